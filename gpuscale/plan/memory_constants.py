"""What frameworks store on top of states and activations: the values of a plan without a calibration."""

# A framework that stores nothing else: no further arrays inside a layer, no gathered array that stays whole, no buckets
# of gradients, nothing fixed; logits in fp32.
DEFAULTS = {"n_copy": 0.0, "n_wide": 0.0, "n_gather": 0.0, "b_bucket": 0.0, "V_fix": 0.0, "b_logit": 4.0}
