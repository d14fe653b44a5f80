"""Constants of engines that serve, from published rows.

Printed by ``make printed``; do not edit.
"""

# The fields of a Constants of gpuscale.serving
CONSTANTS = {"eta_hbm": 0.857588, "t_layer": 6.1639e-05, "t_unpack": 3.11786e-05, "eta_wide": 0.617552, "eta_few": 0.410264}


# What requests in flight add, by whether the model has experts: fields of an EngineRates of gpuscale.serve
IN_FLIGHT = {
    False: {"added": 1.0, "band": 1.33788, "rows": 20, "chips": ["a100_sxm", "b200_sxm", "gb200", "h100_sxm", "h200_sxm"]},
    True: {"added": 2.65031, "band": 1.46234, "rows": 22, "chips": ["a100_sxm", "b200_sxm", "gb200", "h100_sxm", "h200_sxm", "mi355x"]},
}


# Time of a draft token, in steps
DRAFT_TIME = 0.0792909
