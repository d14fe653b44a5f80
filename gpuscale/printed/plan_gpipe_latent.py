"""Plans with the schedule gpipe and latent attention; behind a line, the formula of gpuscale.llm that it ends.

Printed by ``make printed``; do not edit.
"""

from numpy import ceil, greater_equal, less, less_equal, logical_or, maximum, minimum, where


def search(C, b, b_w, W_hbm, W_nvl, B, D, F, L, P, P_act, S, n_seq, n_q, n_kv, d_head, n_mat, n_vocab, N_gpu, F_dense,
           L_dense, n_shared, n_emb, n_pos, n_bias, r_q, r_kv, d_nope, d_rope, d_v, ops_attn, b_kept, b_mask, b_logit,
           b_grad, b_master, b_mom, P_exp, G, W_node, X, Y, Z, k, f_hit, alpha_1, alpha_2, alpha_rank, n_cp, V_bucket,
           N_stages, n_virt, n_zero, n_recompute, n_even, n_sp, n_drop, f_node, g_tp, g_cp, g_ep, n_copy, n_wide,
           n_ahead, p_calm, b_bucket, V_fix, eta_hbm, g_attn, g_ker, b_loss, b_acc, b_upd, t_host, t_cross, t_head,
           t_far, t_fix, alpha_dp, g_dp, gamma_net, g_grp, n_edge, eta_mat, eta_nvl, eta_net, eta_attn):
    """The columns by which a search decides."""
    x0 = d_nope + d_rope
    x1 = r_kv + r_q
    x2 = L**(-1.0)
    x3 = L - L_dense
    x4 = D*b
    x6 = 2*b
    x7 = F_dense*L_dense
    x8 = F*(k + n_shared)
    x11 = 4*b
    x12 = S*n_drop*n_q
    x16 = D*n_vocab
    t2 = maximum(Y, n_kv)  # whole_key_heads
    x18 = X**(-1.0)
    x19 = n_cp**(-1.0)
    x25 = N_stages**(-1.0)
    x26 = n_virt**(-1.0)
    x28 = N_stages - 1
    x31 = less(n_even, 1)
    x33 = less(n_recompute, 1)
    x34 = L*ops_attn
    x35 = less(n_recompute, 2)
    x36 = less(n_recompute, 3)
    x38 = less(N_stages, 2)
    x39 = Y**(-1.0)
    x44 = D*k
    x45 = n_mat - 1
    x46 = 2*b_mask
    x50 = less(n_sp, 1)
    x57 = minimum(G, Y)
    x59 = Y*n_cp
    x61 = maximum(G, Y)
    x62 = minimum(G, Z)
    t1 = minimum(b, b_w)  # dispatch_bytes
    x66 = G**(-1.0)
    x68 = less(n_zero, 1)
    x69 = less(n_zero, 2)
    x70 = less(n_zero, 3)
    x80 = 4*D
    x83 = less(n_drop, 1)
    x91 = X*n_cp - 1
    x92 = W_node*eta_net
    x94 = G*alpha_rank
    t145 = W_nvl*eta_nvl  # reached_bandwidth
    t105 = W_hbm*eta_hbm  # reached_bandwidth
    t143 = C*eta_mat  # reached_flops
    x108 = greater_equal(G, N_gpu)
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t144 = C*eta_attn  # reached_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x84 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x72 = x18*x19
    x27 = x25*x26
    x112 = x26*(N_stages*(n_virt - 1) + 1)
    x107 = minimum(1, x28)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x97 = X*x59
    x67 = maximum(1, Z*x66)
    x89 = maximum(1, N_gpu*x66)
    x93 = Y*x66
    t153 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    t146 = x92  # reached_bandwidth
    x95 = t145**(-1.0)
    x101 = t105**(-1.0)
    x103 = t143**(-1.0)
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    t39 = t10  # gpipe_held
    t180 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x86 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x81 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x88 = D*x51
    x98 = minimum(G, x97)
    t156 = x67  # spanned_nodes
    t46 = x89  # run_nodes
    t147 = x89  # run_nodes
    t150 = maximum(1, x93)  # spanned_nodes
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    x77 = b*x21
    x85 = x21*(D*x48 + x39*(x49 + x84))
    x87 = x21*(D*(8*b + x46) + x84)
    t11 = x21  # microbatch_tokens
    t148 = x92*maximum(1, (1/2)*t147)**(-gamma_net)  # many_nodes
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x78 = x39*x77
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    t47 = n_ahead*n_sp*t11*x4*(1 - x39)*where(x38, 1, where(less(N_stages, 3), 0, p_calm**t46))  # unfreed_arrays
    x96 = t148**(-1.0)
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    x79 = t21*x78
    x82 = where(x50, x77*(x39*x81 + x80), x78*(x80 + x81))
    x104 = x103*x63
    x117 = x4*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t40 = x79 + where(x83, x82, where(x50, x39*x86 + x85, x39*(x86 + x87)))  # whole_layer
    t41 = x79 + where(x83, x82, where(x50, x85, x39*x87))  # coreless_layer
    t176 = (
        where(x38, 0, where(x108, alpha_1, alpha_2)) + where(x38, 0, where(x108, x117*x95, x117/minimum(t145,
        t146*x66)))
    )  # expected_hop
    x30 = t13 - x29
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x88*(x47 + x6)), where(x36, x77*x88, t41)))
    )  # layer_kept
    x118 = -t176
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x90 = t14**(-1.0)
    x106 = ops_attn*t14
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t48 = t14*t42 + t45*x39  # last_stage_activations
    t149 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t170 = t_head + t14*(Y*t_cross*x107*where(x108, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x105 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t152 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t155 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t169 = 6*F*n_mat*x104*x44*x64*(g_grp - 1)  # grouped_time
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x60 = t30*x39
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    x43 = x41 + x42
    x75 = b_grad*x41
    x99 = x41*(-Y/maximum(Y, x98) + 1) + x42*(-Z/maximum(Z, x98) + 1)
    x100 = x41*x57*(-x61/maximum(maximum(G, Y), x97) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x97) + 1)
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x94*(t150 - 2)) + maximum(t28*x95, t29*x96)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t157 = (
        t155*where(less_equal(t156, 1), alpha_1, alpha_2 + x94*(t156 - 2)) + maximum(t33*x95, t34*x96)
    )  # expected_level
    t18 = x43  # stage_rank_params
    t35 = where(x68, b_w*x43, where(x71, b_w*x41 + b_w*x42, b_w*x74))  # stage_state
    t37 = where(x68, t0*x43, where(x71, t0*x41*x72 + t0*x76, t0*x74))  # stage_state
    t36 = (
        where(x68, b_grad*x43, where(x69, b_grad*x42 + x75, where(x70, b_grad*x76 + x72*x75, b_grad*x74)))
    )  # stage_state
    t158 = b_grad*x99  # dp_nvlink
    t162 = b_w*x99  # dp_nvlink
    t159 = b_grad*x100  # dp_network
    t163 = b_w*x100  # dp_network
    t154 = (
        t152*where(less_equal(t153, 1), alpha_1, alpha_2 + x94*(t153 - 2)) + maximum(t31*x95, t32*x96)
    )  # expected_level
    x102 = t18*x101
    t49 = (
        t18*x90*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t50 = V_fix + b_bucket*t18*minimum(1, x91) + t47  # framework_memory
    t168 = (
        x101*(b_acc*t18 + b_loss*n_vocab*x63 + g_ker*(t25 + t26)) + x63*(x103*(3*t15 + x105 - 3*x106) + x106*(g_attn +
        1)/t144)
    )  # microbatch_gpu_time
    t181 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t161 = maximum(t158*x95, t159*x96)  # expected_level
    t165 = maximum(t162*x95, t163*x96)  # expected_level
    t166 = t25*x101 + maximum(b_w*x102, t15*x104)  # stage_forward
    t167 = t26*x101 + maximum(x102*(2*b_grad + b_w), x104*(2*t15 + x105))  # stage_backward
    t183 = b_upd*x102*where(x68, 1, x72) + t_fix  # update_time
    t171 = (
        t_far*t14*maximum(0, -G + Y)*where(x38, 1, x93) + maximum(t170, g_cp*t154 + g_ep*t157 + g_tp*t151 + t168 + t169)
    )  # expected_microbatch
    t53 = t38 + t49 + t50 + maximum(t44, t48)  # gpu_memory
    x111 = 2*t161
    x115 = t165 - t166
    x110 = -t167
    x113 = -t167*x112
    x109 = t171/(t166 + t167)
    t179 = where(x68, x111, where(x69, t161 + t165, where(x70, t10*t161 + t165, t10*(t161 + 2*t165))))  # dp_exchange
    x116 = maximum(maximum(0, x115*x26), t165 - t166*x112)
    x114 = t161 + x110
    t172 = t166*x109  # forward_slot
    t173 = t167*x109  # backward_slot
    t175 = (
        where(x68, maximum(maximum(0, x111 + x113), x26*(x110 + x111)), where(x69, x116 + maximum(maximum(0, x114*x26),
        t161 + x113), where(x70, t10*maximum(0, x114) + x116, t10*(maximum(0, x115) + maximum(0, t165 + x114)))))
    )  # exposed_dp
    t177 = x28*(t172 + t173)  # bubble_time
    t178 = t176*(2*N_stages - 2) + x107*(t10 - 1)*(maximum(0, -t172 - x118) + maximum(0, -t173 - x118))  # gpipe_exposed
    t182 = (
        alpha_dp*t180*t181*x91 + minimum(t179, g_dp*(-t175 + t179)*minimum(1, n_zero + x28) + n_edge*t179*x90 + t175)
    )  # expected_dp
    t184 = t10*t171 + t177 + t178 + t182 + t183  # expected_step
    return [t53, t38, t184]


def columns(C, b, b_w, W_hbm, W_nvl, B, D, F, eta, L, P, P_act, S, n_seq, n_q, n_kv, d_head, n_mat, n_vocab, N_gpu,
            F_dense, L_dense, n_shared, n_emb, n_pos, n_bias, r_q, r_kv, d_nope, d_rope, d_v, ops_tok, ops_attn, b_kept,
            b_mask, b_logit, b_grad, b_master, b_mom, P_exp, G, W_node, X, Y, Z, k, f_hit, alpha_1, alpha_2, alpha_rank,
            n_cp, V_bucket, N_stages, n_virt, n_zero, n_recompute, n_even, n_sp, n_drop, f_node, g_tp, g_cp, g_ep,
            n_copy, n_wide, n_ahead, p_calm, b_bucket, V_fix, eta_1, eta_2, eta_hbm, g_attn, g_ker, b_loss, b_acc,
            b_upd, t_host, t_cross, t_head, t_far, t_fix, alpha_dp, g_dp, gamma_net, g_grp, n_edge, eta_mat, eta_nvl,
            eta_net, eta_attn):
    """All columns."""
    x0 = d_nope + d_rope
    x1 = r_kv + r_q
    x2 = L**(-1.0)
    x3 = L - L_dense
    x4 = D*b
    x6 = 2*b
    x7 = F_dense*L_dense
    x8 = F*(k + n_shared)
    x11 = 4*b
    x12 = S*n_drop*n_q
    x16 = D*n_vocab
    t2 = maximum(Y, n_kv)  # whole_key_heads
    x18 = X**(-1.0)
    x19 = n_cp**(-1.0)
    x25 = N_stages**(-1.0)
    x26 = n_virt**(-1.0)
    x28 = N_stages - 1
    x31 = less(n_even, 1)
    x33 = less(n_recompute, 1)
    x34 = L*ops_attn
    x35 = less(n_recompute, 2)
    x36 = less(n_recompute, 3)
    x38 = less(N_stages, 2)
    x39 = Y**(-1.0)
    x44 = D*k
    x45 = n_mat - 1
    x46 = 2*b_mask
    x50 = less(n_sp, 1)
    x57 = minimum(G, Y)
    x59 = Y*n_cp
    x61 = maximum(G, Y)
    x62 = minimum(G, Z)
    t1 = minimum(b, b_w)  # dispatch_bytes
    x66 = G**(-1.0)
    x68 = less(n_zero, 1)
    x69 = less(n_zero, 2)
    x70 = less(n_zero, 3)
    x80 = 4*D
    x83 = less(n_drop, 1)
    x91 = X*n_cp - 1
    x100 = W_hbm**(-1.0)
    x103 = C**(-1.0)
    x107 = 2*b_grad + b_w
    x111 = W_node**(-1.0)
    x112 = W_nvl**(-1.0)
    x127 = greater_equal(G, N_gpu)
    x128 = 2*N_stages - 2
    x132 = 3*B
    x134 = N_gpu**(-1.0)
    t105 = W_hbm*eta_hbm  # reached_bandwidth
    t102 = C*eta  # reached_flops
    t103 = W_nvl*eta_1  # reached_bandwidth
    t104 = W_node*eta_2  # reached_bandwidth
    x159 = W_node*eta_net
    x161 = G*alpha_rank
    t145 = W_nvl*eta_nvl  # reached_bandwidth
    t143 = C*eta_mat  # reached_flops
    t144 = C*eta_attn  # reached_flops
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t185 = 6*B*P_act  # model_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x84 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x72 = x18*x19
    x27 = x25*x26
    x122 = x26*(N_stages*(n_virt - 1) + 1)
    x130 = minimum(1, x28)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x95 = X*x59
    x67 = maximum(1, Z*x66)
    x89 = maximum(1, N_gpu*x66)
    x160 = Y*x66
    t153 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    x133 = x132*(2*P_act + x34)
    x136 = ops_tok*x132
    x135 = x103*x134
    x137 = t105**(-1.0)
    x141 = t102**(-1.0)
    x147 = t103**(-1.0)
    x148 = t104**(-1.0)
    t146 = x159  # reached_bandwidth
    x162 = t145**(-1.0)
    x164 = t143**(-1.0)
    x171 = (g_attn + 1)/t144
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    x94 = 2*t10
    t39 = t10  # gpipe_held
    t180 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x86 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x131 = x130*(t10 - 1)
    x56 = 2*x55 + 4
    x81 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x88 = D*x51
    x96 = minimum(G, x95)
    t156 = x67  # spanned_nodes
    t46 = x89  # run_nodes
    t147 = x89  # run_nodes
    t150 = maximum(1, x160)  # spanned_nodes
    t88 = x133  # model_flops
    t129 = x133  # model_flops
    t100 = x136  # counted_flops
    t141 = x136  # counted_flops
    t207 = x136  # counted_flops
    t186 = t185*x134*x164  # mfu_step_time
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    t60 = b_grad*where(x68, 2, where(x69, 1, t10)) + b_w*where(x68, 0, where(x70, 1, x94))  # dp_passes
    x77 = b*x21
    x85 = x21*(D*x48 + x39*(x49 + x84))
    x87 = x21*(D*(8*b + x46) + x84)
    t11 = x21  # microbatch_tokens
    t148 = x159*maximum(1, (1/2)*t147)**(-gamma_net)  # many_nodes
    t89 = t88*x135  # mfu_step_time
    t130 = t129*x134*x141  # mfu_step_time
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x78 = x39*x77
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    t47 = n_ahead*n_sp*t11*x4*(1 - x39)*where(x38, 1, where(less(N_stages, 3), 0, p_calm**t46))  # unfreed_arrays
    x163 = t148**(-1.0)
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    x79 = t21*x78
    x82 = where(x50, x77*(x39*x81 + x80), x78*(x80 + x81))
    x99 = x4*x63
    x104 = x103*x63
    x142 = x141*x63
    x165 = x164*x63
    x168 = b_loss*n_vocab*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t40 = x79 + where(x83, x82, where(x50, x39*x86 + x85, x39*(x86 + x87)))  # whole_layer
    t41 = x79 + where(x83, x82, where(x50, x85, x39*x87))  # coreless_layer
    t63 = x99  # sharded_hop_bytes
    t81 = where(x38, 0, where(x127, x112*x99, x99/minimum(W_nvl, W_node*x66)))  # stage_hop
    t122 = where(x38, 0, where(x127, x147*x99, x99/minimum(t103, t104*x66)))  # stage_hop
    t176 = (
        where(x38, 0, where(x127, alpha_1, alpha_2)) + where(x38, 0, where(x127, x162*x99, x99/minimum(t145, t146*x66)))
    )  # expected_hop
    t195 = x137*x168  # microbatch_gpu_time
    x30 = t13 - x29
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x88*(x47 + x6)), where(x36, x77*x88, t41)))
    )  # layer_kept
    t64 = where(x38, 0, n_virt*t63*x94)  # pipeline_bytes
    x129 = -t81
    x158 = -t122
    x184 = -t176
    t196 = t10*t195  # expected_step
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x90 = t14**(-1.0)
    x169 = ops_attn*t14
    x172 = t_far*t14*maximum(0, -G + Y)*where(x38, 1, x160)
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t48 = t14*t42 + t45*x39  # last_stage_activations
    t149 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t170 = t_head + t14*(Y*t_cross*x130*where(x127, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x108 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t189 = ops_attn*x171*x39*x53  # microbatch_gpu_time
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t152 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t155 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t169 = 6*F*n_mat*x165*x44*x64*(g_grp - 1)  # grouped_time
    x109 = 2*t15 + x108
    x170 = x164*(3*t15 + x108 - 3*x169)
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    x101 = t25*x100
    x138 = t25*x137
    x106 = t26*x100
    x144 = t26*x137
    x167 = g_ker*(t25 + t26)
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t190 = t10*t189  # expected_step
    x60 = t30*x39
    x92 = maximum(t44, t48)
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    t191 = maximum(0, t169)  # expected_microbatch
    t187 = x170*x63  # microbatch_gpu_time
    x43 = x41 + x42
    x75 = b_grad*x41
    x97 = x41*(-Y/maximum(Y, x96) + 1) + x42*(-Z/maximum(Z, x96) + 1)
    x98 = x41*x57*(-x61/maximum(maximum(G, Y), x95) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x95) + 1)
    t86 = x101  # stage_forward
    t127 = x138  # stage_forward
    t87 = x106  # stage_backward
    t128 = x144  # stage_backward
    t193 = x137*x167  # microbatch_gpu_time
    t54 = t10*t28  # step_bytes
    t55 = t10*t29  # step_bytes
    t67 = maximum(t28*x112, t29*x111)  # level_time
    t108 = maximum(t28*x147, t29*x148)  # level_time
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x161*(t150 - 2)) + maximum(t28*x162, t29*x163)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t51 = x92  # gpu_memory
    t58 = t10*t33  # step_bytes
    t59 = t10*t34  # step_bytes
    t69 = maximum(t33*x112, t34*x111)  # level_time
    t110 = maximum(t33*x147, t34*x148)  # level_time
    t157 = (
        t155*where(less_equal(t156, 1), alpha_1, alpha_2 + x161*(t156 - 2)) + maximum(t33*x162, t34*x163)
    )  # expected_level
    t192 = t10*t191  # expected_step
    t188 = t10*t187  # expected_step
    t18 = x43  # stage_rank_params
    t35 = where(x68, b_w*x43, where(x71, b_w*x41 + b_w*x42, b_w*x74))  # stage_state
    t37 = where(x68, t0*x43, where(x71, t0*x41*x72 + t0*x76, t0*x74))  # stage_state
    t36 = (
        where(x68, b_grad*x43, where(x69, b_grad*x42 + x75, where(x70, b_grad*x76 + x72*x75, b_grad*x74)))
    )  # stage_state
    x113 = b_grad*x97
    x115 = b_w*x97
    t61 = t60*x97  # dp_nvlink
    x114 = b_grad*x98
    x116 = b_w*x98
    t62 = t60*x98  # dp_network
    t92 = t86 + t87  # microbatch_time
    t133 = t127 + t128  # microbatch_time
    t194 = t10*t193  # expected_step
    x117 = g_tp*t67
    x149 = g_tp*t108
    x173 = g_tp*t151
    t56 = t10*t31  # step_bytes
    t57 = t10*t32  # step_bytes
    t68 = maximum(t31*x112, t32*x111)  # level_time
    t109 = maximum(t31*x147, t32*x148)  # level_time
    t154 = (
        t152*where(less_equal(t153, 1), alpha_1, alpha_2 + x161*(t153 - 2)) + maximum(t31*x162, t32*x163)
    )  # expected_level
    x119 = g_ep*t69
    x151 = g_ep*t110
    x175 = g_ep*t157
    x102 = t18*x100
    x139 = t18*x137
    x166 = b_acc*t18
    t49 = (
        t18*x90*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t50 = V_fix + b_bucket*t18*minimum(1, x91) + t47  # framework_memory
    t181 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t70 = x113  # dp_nvlink
    t111 = x113  # dp_nvlink
    t158 = x113  # dp_nvlink
    t73 = x115  # dp_nvlink
    t114 = x115  # dp_nvlink
    t162 = x115  # dp_nvlink
    t71 = x114  # dp_network
    t112 = x114  # dp_network
    t159 = x114  # dp_network
    t74 = x116  # dp_network
    t115 = x116  # dp_network
    t163 = x116  # dp_network
    t93 = t10*t92  # step_sum
    t134 = t10*t133  # step_sum
    t94 = x117  # microbatch_time
    t135 = x149  # microbatch_time
    t199 = x172 + maximum(0, x173)  # expected_microbatch
    x118 = g_cp*t68
    x150 = g_cp*t109
    x174 = g_cp*t154
    t98 = x119  # microbatch_time
    t139 = x151  # microbatch_time
    t203 = maximum(0, x175)  # expected_microbatch
    x105 = maximum(b_w*x102, t15*x104)
    x110 = maximum(x102*x107, x104*x109)
    x140 = b_w*x139
    x145 = x107*x139
    t183 = b_upd*x139*where(x68, 1, x72) + t_fix  # update_time
    t168 = x137*(x166 + x167 + x168) + x63*(x169*x171 + x170)  # microbatch_gpu_time
    t197 = x137*x166  # microbatch_gpu_time
    x93 = t49 + t50
    t72 = maximum(t70*x112, t71*x111)  # level_time
    t113 = maximum(t111*x147, t112*x148)  # level_time
    t161 = maximum(t158*x162, t159*x163)  # expected_level
    t75 = maximum(t73*x112, t74*x111)  # level_time
    t116 = maximum(t114*x147, t115*x148)  # level_time
    t165 = maximum(t162*x162, t163*x163)  # expected_level
    t95 = t10*t94  # step_sum
    t136 = t10*t135  # step_sum
    t200 = t10*t199  # expected_step
    t96 = x118  # microbatch_time
    t137 = x150  # microbatch_time
    t201 = maximum(0, x174)  # expected_microbatch
    t99 = t10*t98  # step_sum
    t140 = t10*t139  # step_sum
    t204 = t10*t203  # expected_step
    t65 = x101 + x105  # stage_forward
    t77 = x105  # stage_forward
    t66 = x106 + x110  # stage_backward
    t85 = x110  # stage_backward
    x143 = maximum(x140, t15*x142)
    t166 = x138 + maximum(x140, t15*x165)  # stage_forward
    x146 = maximum(x145, x109*x142)
    t167 = x144 + maximum(x145, x109*x165)  # stage_backward
    x176 = t168 + t169 + x173 + x174 + x175
    t198 = t10*t197  # expected_step
    t52 = x93  # gpu_memory
    t53 = t38 + x92 + x93  # gpu_memory
    x179 = 2*t161
    t97 = t10*t96  # step_sum
    t138 = t10*t137  # step_sum
    t202 = t10*t201  # expected_step
    x125 = -t65 + t75
    x120 = t65 + t66
    x123 = -t66*x122
    x124 = -t66 + t72
    t90 = t77 + t85  # microbatch_time
    t106 = x138 + x143  # stage_forward
    t118 = x143  # stage_forward
    x182 = t165 - t166
    t107 = x144 + x146  # stage_backward
    t126 = x146  # stage_backward
    x178 = -t167
    x180 = -t167*x122
    t171 = x172 + maximum(t170, x176)  # expected_microbatch
    t205 = maximum(0, t170 - x176)  # host_wait
    t179 = where(x68, x179, where(x69, t161 + t165, where(x70, t10*t161 + t165, t10*(t161 + 2*t165))))  # dp_exchange
    x126 = maximum(maximum(0, x125*x26), -t65*x122 + t75)
    t76 = x117 + x118 + x119 + x120  # microbatch_time
    t91 = t10*t90  # step_sum
    x156 = -t106 + t116
    x183 = maximum(maximum(0, x182*x26), t165 - t166*x122)
    x152 = t106 + t107
    x154 = -t107*x122
    x155 = -t107 + t113
    t131 = t118 + t126  # microbatch_time
    x181 = t161 + x178
    x177 = t171/(t166 + t167)
    t206 = t10*t205  # expected_step
    t80 = (
        where(x68, maximum(maximum(0, 2*t72 + x123), x26*(-t66 + 2*t72)), where(x69, x126 + maximum(maximum(0,
        x124*x26), t72 + x123), where(x70, t10*maximum(0, x124) + x126, t10*(maximum(0, x125) + maximum(0, -t66 + t72 +
        t75)))))
    )  # exposed_dp
    x121 = t76/x120
    x157 = maximum(maximum(0, x156*x26), -t106*x122 + t116)
    t117 = x149 + x150 + x151 + x152  # microbatch_time
    t132 = t10*t131  # step_sum
    t175 = (
        where(x68, maximum(maximum(0, x179 + x180), x26*(x178 + x179)), where(x69, x183 + maximum(maximum(0, x181*x26),
        t161 + x180), where(x70, t10*maximum(0, x181) + x183, t10*(maximum(0, x182) + maximum(0, t165 + x181)))))
    )  # exposed_dp
    t172 = t166*x177  # forward_slot
    t173 = t167*x177  # backward_slot
    t78 = t65*x121  # forward_slot
    t79 = t66*x121  # backward_slot
    t121 = (
        where(x68, maximum(maximum(0, 2*t113 + x154), x26*(-t107 + 2*t113)), where(x69, x157 + maximum(maximum(0,
        x155*x26), t113 + x154), where(x70, t10*maximum(0, x155) + x157, t10*(maximum(0, x156) + maximum(0, -t107 + t113
        + t116)))))
    )  # exposed_dp
    x153 = t117/x152
    t182 = (
        alpha_dp*t180*t181*x91 + minimum(t179, g_dp*(-t175 + t179)*minimum(1, n_zero + x28) + n_edge*t179*x90 + t175)
    )  # expected_dp
    t177 = x28*(t172 + t173)  # bubble_time
    t178 = t176*x128 + x131*(maximum(0, -t172 - x184) + maximum(0, -t173 - x184))  # gpipe_exposed
    t82 = x28*(t78 + t79)  # bubble_time
    t83 = t81*x128 + x131*(maximum(0, -t78 - x129) + maximum(0, -t79 - x129))  # gpipe_exposed
    t119 = t106*x153  # forward_slot
    t120 = t107*x153  # backward_slot
    t184 = t10*t171 + t177 + t178 + t182 + t183  # expected_step
    t84 = t10*t76 + t80 + t82 + t83  # step_sum
    t123 = x28*(t119 + t120)  # bubble_time
    t124 = t122*x128 + x131*(maximum(0, -t119 - x158) + maximum(0, -t120 - x158))  # gpipe_exposed
    t208 = t207*x135/t184  # mfu
    t101 = t100*x135/t84  # mfu
    t125 = t10*t117 + t121 + t123 + t124  # step_sum
    t142 = t141*x135/t125  # mfu
    return [
        t10, t14, t35, t36, t37, t38, t51, t52, t53, t54, t55, t56, t57, t58, t59, t61, t62, t64, t89, t91, t93, t95,
        t97, t99, t80, t83, t82, t84, t101, t130, t132, t134, t136, t138, t140, t121, t124, t123, t125, t142, t186,
        t188, t190, t192, t194, t196, t198, t200, t202, t204, t206, t177, t178, t182, t183, t184, t208,
    ]


PROGRAMS = {
    (
        "memory", "states", "step_expected",
    ): search,
    (
        "microbatches", "stage_layers", "weights", "gradients", "optimizer", "states", "activations", "working",
        "memory", "tp_nvlink", "tp_network_node", "cp_nvlink", "cp_network_node", "ep_nvlink", "ep_network_node",
        "dp_nvlink", "dp_network_node", "pp_bytes", "need_at_peak", "math_at_peak", "kernels_at_peak",
        "tp_wait_at_peak", "cp_wait_at_peak", "ep_wait_at_peak", "dp_wait_at_peak", "pp_wait_at_peak", "bubble_at_peak",
        "step_at_peak", "mfu_at_peak", "need_at_measured_rates", "math_at_measured_rates", "kernels_at_measured_rates",
        "tp_wait_at_measured_rates", "cp_wait_at_measured_rates", "ep_wait_at_measured_rates",
        "dp_wait_at_measured_rates", "pp_wait_at_measured_rates", "bubble_at_measured_rates", "step_at_measured_rates",
        "mfu_at_measured_rates", "need_expected", "matmuls_expected", "attention_expected", "experts_expected",
        "kernels_expected", "loss_expected", "sums_expected", "tp_expected", "cp_expected", "ep_expected",
        "host_expected", "bubble_expected", "pp_expected", "dp_expected", "update_expected", "step_expected",
        "mfu_expected",
    ): columns,
}
