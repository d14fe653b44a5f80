"""Constants of engines that serve.

Printed by ``make printed``; do not edit.
"""

# By whether the model has experts: the fields of an EngineRates of gpuscale.serve, from published rows.
ENGINES = {
    False: {"eta_hbm": 0.857588, "t_layer": 6.1639e-05, "t_unpack": 3.11786e-05, "eta_wide": 0.617552, "eta_few": 0.410264, "added": 1.0, "band": 1.33788, "rows": 20},
    True: {"eta_hbm": 0.857588, "t_layer": 6.1639e-05, "t_unpack": 3.11786e-05, "eta_wide": 0.617552, "eta_few": 0.410264, "added": 2.65031, "band": 1.46234, "rows": 22},
}
