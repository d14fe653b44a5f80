"""Plans with the schedule dualpipe and latent attention; behind a line, the formula of gpuscale.llm that it ends.

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
    x68 = 2*b_w
    x69 = less(n_zero, 1)
    x70 = less(n_zero, 2)
    x71 = less(n_zero, 3)
    x76 = 2*b_grad
    t0 = b_master + 2*b_mom  # optimizer_bytes
    x83 = 4*D
    x86 = less(n_drop, 1)
    x94 = X*n_cp - 1
    x95 = W_node*eta_net
    x97 = G*alpha_rank
    t145 = W_nvl*eta_nvl  # reached_bandwidth
    t105 = W_hbm*eta_hbm  # reached_bandwidth
    t143 = C*eta_mat  # reached_flops
    x111 = greater_equal(G, N_gpu)
    x121 = (1/2)*N_stages - 1
    t39 = N_stages + 1  # dualpipe_held
    t144 = C*eta_attn  # reached_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x87 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x73 = x18*x19
    x27 = x25*x26
    x115 = x26*(N_stages*(n_virt - 1) + 1)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x100 = X*x59
    x67 = maximum(1, Z*x66)
    x92 = maximum(1, N_gpu*x66)
    x96 = Y*x66
    t153 = maximum(1, x59*x66)  # spanned_nodes
    x72 = logical_or.reduce((x70,x71))
    t146 = x95  # reached_bandwidth
    x98 = t145**(-1.0)
    x104 = t105**(-1.0)
    x106 = t143**(-1.0)
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    t180 = where(x70, 1, where(x71, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x89 = S**2*n_q*x20*(b_mask + x6)
    x79 = t0*x73
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x84 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x91 = D*x51
    x101 = minimum(G, x100)
    t156 = x67  # spanned_nodes
    t46 = x92  # run_nodes
    t147 = x92  # run_nodes
    t150 = maximum(1, x96)  # spanned_nodes
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    x80 = b*x21
    x88 = x21*(D*x48 + x39*(x49 + x87))
    x90 = x21*(D*(8*b + x46) + x87)
    t11 = x21  # microbatch_tokens
    t148 = x95*maximum(1, (1/2)*t147)**(-gamma_net)  # many_nodes
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x81 = x39*x80
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    t47 = n_ahead*n_sp*t11*x4*(1 - x39)*where(x38, 1, where(less(N_stages, 3), 0, p_calm**t46))  # unfreed_arrays
    x99 = t148**(-1.0)
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    x82 = t21*x81
    x85 = where(x50, x80*(x39*x84 + x83), x81*(x83 + x84))
    x107 = x106*x63
    x120 = x4*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t40 = x82 + where(x86, x85, where(x50, x39*x89 + x88, x39*(x89 + x90)))  # whole_layer
    t41 = x82 + where(x86, x85, where(x50, x88, x39*x90))  # coreless_layer
    t176 = (
        where(x38, 0, where(x111, alpha_1, alpha_2)) + where(x38, 0, where(x111, x120*x98, x120/minimum(t145,
        t146*x66)))
    )  # expected_hop
    x30 = t13 - x29
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x91*(x47 + x6)), where(x36, x80*x91, t41)))
    )  # layer_kept
    t178 = (
        where(less(n_virt, 2), 2*t176*(x28 + ceil(x25*x28*(t10 - 2))), t176*(2*N_stages*n_virt - 2))
    )  # pipeline_exposed
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x93 = t14**(-1.0)
    x110 = ops_attn*t14
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t48 = t14*t42 + t45*x39  # last_stage_activations
    t149 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t170 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x111, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x109 = t16*x37
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
    x78 = x39*x40
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t155 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t169 = 6*F*n_mat*x107*x44*x64*(g_grp - 1)  # grouped_time
    x41 = x39*(t17 - x40)
    x74 = t17*x39
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x60 = t30*x39
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    x43 = x41 + x42
    x77 = x41*x76
    x102 = x41*(-Y/maximum(Y, x101) + 1) + x42*(-Z/maximum(Z, x101) + 1)
    x103 = x41*x57*(-x61/maximum(maximum(G, Y), x100) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x100) + 1)
    x75 = x73*x74
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x97*(t150 - 2)) + maximum(t28*x98, t29*x99)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t157 = (
        t155*where(less_equal(t156, 1), alpha_1, alpha_2 + x97*(t156 - 2)) + maximum(t33*x98, t34*x99)
    )  # expected_level
    t18 = x43  # stage_rank_params
    t37 = where(x69, t0*x43, where(x72, x41*x79 + x78*x79, x74*x79))  # dualpipe_state
    t158 = b_grad*x102  # dp_nvlink
    t162 = b_w*x102  # dp_nvlink
    t159 = b_grad*x103  # dp_network
    t163 = b_w*x103  # dp_network
    t35 = where(x69, x43*x68, where(x72, x41*x68 + x42*x68, x68*x75))  # dualpipe_state
    t36 = where(x69, x43*x76, where(x70, x42*x76 + x77, where(x71, x73*x76*x78 + x73*x77, x75*x76)))  # dualpipe_state
    t154 = (
        t152*where(less_equal(t153, 1), alpha_1, alpha_2 + x97*(t153 - 2)) + maximum(t31*x98, t32*x99)
    )  # expected_level
    x105 = t18*x104
    t49 = (
        t18*x93*where(x70, 0, where(x71, b_grad, b_grad + x68)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t50 = V_fix + b_bucket*t18*minimum(1, x94) + t47  # framework_memory
    t168 = (
        x104*(b_acc*t18 + b_loss*n_vocab*x63 + g_ker*(t25 + t26)) + x63*(x106*(3*t15 + x109 - 3*x110) + x110*(g_attn +
        1)/t144)
    )  # microbatch_gpu_time
    t181 = where(x71, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t161 = maximum(t158*x98, t159*x99)  # expected_level
    t165 = maximum(t162*x98, t163*x99)  # expected_level
    t38 = t35 + t36 + t37  # replicated_state
    x108 = maximum(b_w*x105, t15*x107)
    t167 = t26*x104 + maximum(x105*(b_w + x76), x107*(2*t15 + x109))  # stage_backward
    t183 = b_upd*x105*where(x69, 1, x73) + t_fix  # update_time
    t171 = (
        t_far*t14*maximum(0, -G + Y)*where(x38, 1, x96) + maximum(t170, g_cp*t154 + g_ep*t157 + g_tp*t151 + t168 + t169)
    )  # expected_microbatch
    x114 = 2*t161
    t53 = t38 + t49 + t50 + maximum(t44, t48)  # gpu_memory
    t166 = t25*x104 + x108  # stage_forward
    t174 = x108  # stage_forward
    x113 = -t167
    x116 = -t167*x115
    t179 = where(x69, x114, where(x70, t161 + t165, where(x71, t10*t161 + t165, t10*(t161 + 2*t165))))  # dp_exchange
    x112 = t171/(t166 + t167)
    x118 = t165 - t166
    x117 = t161 + x113
    t172 = t166*x112  # forward_slot
    t173 = t167*x112  # backward_slot
    x119 = maximum(maximum(0, x118*x26), t165 - t166*x115)
    x122 = t173 - t174
    t175 = (
        where(x69, maximum(maximum(0, x114 + x116), x26*(x113 + x114)), where(x70, x119 + maximum(maximum(0, x117*x26),
        t161 + x116), where(x71, t10*maximum(0, x117) + x119, t10*(maximum(0, x118) + maximum(0, t165 + x117)))))
    )  # exposed_dp
    t177 = (
        x121*(t172 + x122 + maximum(t172, x122) - minimum(t174, x122)) - minimum(t172, x121*maximum(0, -t172 + t173 -
        t174))
    )  # dualpipe_bubble
    t182 = (
        alpha_dp*t180*t181*x94 + minimum(t179, g_dp*(-t175 + t179)*minimum(1, n_zero + x28) + n_edge*t179*x93 + t175)
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
    x68 = 2*b_w
    x69 = less(n_zero, 1)
    x70 = less(n_zero, 2)
    x71 = less(n_zero, 3)
    x76 = 2*b_grad
    t0 = b_master + 2*b_mom  # optimizer_bytes
    x83 = 4*D
    x86 = less(n_drop, 1)
    x94 = X*n_cp - 1
    x103 = W_hbm**(-1.0)
    x106 = C**(-1.0)
    x114 = W_node**(-1.0)
    x115 = W_nvl**(-1.0)
    x130 = greater_equal(G, N_gpu)
    x131 = (1/2)*N_stages - 1
    x135 = less(n_virt, 2)
    x136 = 2*N_stages*n_virt - 2
    x137 = 3*B
    x139 = N_gpu**(-1.0)
    t105 = W_hbm*eta_hbm  # reached_bandwidth
    t102 = C*eta  # reached_flops
    t103 = W_nvl*eta_1  # reached_bandwidth
    t104 = W_node*eta_2  # reached_bandwidth
    x165 = W_node*eta_net
    x167 = G*alpha_rank
    t145 = W_nvl*eta_nvl  # reached_bandwidth
    t143 = C*eta_mat  # reached_flops
    t144 = C*eta_attn  # reached_flops
    t39 = N_stages + 1  # dualpipe_held
    t185 = 6*B*P_act  # model_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x87 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x73 = x18*x19
    x27 = x25*x26
    x125 = x26*(N_stages*(n_virt - 1) + 1)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x98 = X*x59
    x67 = maximum(1, Z*x66)
    x92 = maximum(1, N_gpu*x66)
    x166 = Y*x66
    t153 = maximum(1, x59*x66)  # spanned_nodes
    x72 = logical_or.reduce((x70,x71))
    x110 = b_w + x76
    x138 = x137*(2*P_act + x34)
    x141 = ops_tok*x137
    x140 = x106*x139
    x142 = t105**(-1.0)
    x146 = t102**(-1.0)
    x152 = t103**(-1.0)
    x153 = t104**(-1.0)
    t146 = x165  # reached_bandwidth
    x168 = t145**(-1.0)
    x170 = t143**(-1.0)
    x178 = (g_attn + 1)/t144
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    x97 = 2*t10
    x134 = 2*x28 + 2*ceil(x25*x28*(t10 - 2))
    t180 = where(x70, 1, where(x71, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x89 = S**2*n_q*x20*(b_mask + x6)
    x79 = t0*x73
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x84 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x91 = D*x51
    x99 = minimum(G, x98)
    t156 = x67  # spanned_nodes
    t46 = x92  # run_nodes
    t147 = x92  # run_nodes
    t150 = maximum(1, x166)  # spanned_nodes
    t88 = x138  # model_flops
    t129 = x138  # model_flops
    t100 = x141  # counted_flops
    t141 = x141  # counted_flops
    t207 = x141  # counted_flops
    t186 = t185*x139*x170  # mfu_step_time
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    t60 = b_grad*where(x69, 2, where(x70, 1, t10)) + b_w*where(x69, 0, where(x71, 1, x97))  # dp_passes
    x80 = b*x21
    x88 = x21*(D*x48 + x39*(x49 + x87))
    x90 = x21*(D*(8*b + x46) + x87)
    t11 = x21  # microbatch_tokens
    t148 = x165*maximum(1, (1/2)*t147)**(-gamma_net)  # many_nodes
    t89 = t88*x140  # mfu_step_time
    t130 = t129*x139*x146  # mfu_step_time
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x81 = x39*x80
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    t47 = n_ahead*n_sp*t11*x4*(1 - x39)*where(x38, 1, where(less(N_stages, 3), 0, p_calm**t46))  # unfreed_arrays
    x169 = t148**(-1.0)
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    x82 = t21*x81
    x85 = where(x50, x80*(x39*x84 + x83), x81*(x83 + x84))
    x102 = x4*x63
    x107 = x106*x63
    x147 = x146*x63
    x171 = x170*x63
    x175 = b_loss*n_vocab*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t40 = x82 + where(x86, x85, where(x50, x39*x89 + x88, x39*(x89 + x90)))  # whole_layer
    t41 = x82 + where(x86, x85, where(x50, x88, x39*x90))  # coreless_layer
    t63 = x102  # sharded_hop_bytes
    t81 = where(x38, 0, where(x130, x102*x115, x102/minimum(W_nvl, W_node*x66)))  # stage_hop
    t122 = where(x38, 0, where(x130, x102*x152, x102/minimum(t103, t104*x66)))  # stage_hop
    t176 = (
        where(x38, 0, where(x130, alpha_1, alpha_2)) + where(x38, 0, where(x130, x102*x168, x102/minimum(t145,
        t146*x66)))
    )  # expected_hop
    t195 = x142*x175  # microbatch_gpu_time
    x30 = t13 - x29
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x91*(x47 + x6)), where(x36, x80*x91, t41)))
    )  # layer_kept
    t64 = where(x38, 0, n_virt*t63*x97)  # pipeline_bytes
    t83 = where(x135, t81*x134, t81*x136)  # pipeline_exposed
    t124 = where(x135, t122*x134, t122*x136)  # pipeline_exposed
    t178 = where(x135, t176*x134, t176*x136)  # pipeline_exposed
    t196 = t10*t195  # expected_step
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x93 = t14**(-1.0)
    x176 = ops_attn*t14
    x179 = t_far*t14*maximum(0, -G + Y)*where(x38, 1, x166)
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t48 = t14*t42 + t45*x39  # last_stage_activations
    t149 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t170 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x130, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x111 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t189 = ops_attn*x178*x39*x53  # microbatch_gpu_time
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t152 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x78 = x39*x40
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t155 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t169 = 6*F*n_mat*x171*x44*x64*(g_grp - 1)  # grouped_time
    x112 = 2*t15 + x111
    x177 = x170*(3*t15 + x111 - 3*x176)
    x41 = x39*(t17 - x40)
    x74 = t17*x39
    x104 = t25*x103
    x143 = t25*x142
    x109 = t26*x103
    x149 = t26*x142
    x174 = g_ker*(t25 + t26)
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t190 = t10*t189  # expected_step
    x60 = t30*x39
    x95 = maximum(t44, t48)
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    t191 = maximum(0, t169)  # expected_microbatch
    t187 = x177*x63  # microbatch_gpu_time
    x43 = x41 + x42
    x77 = x41*x76
    x100 = x41*(-Y/maximum(Y, x99) + 1) + x42*(-Z/maximum(Z, x99) + 1)
    x101 = x41*x57*(-x61/maximum(maximum(G, Y), x98) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x98) + 1)
    x75 = x73*x74
    t86 = x104  # stage_forward
    t127 = x143  # stage_forward
    t87 = x109  # stage_backward
    t128 = x149  # stage_backward
    t193 = x142*x174  # microbatch_gpu_time
    t54 = t10*t28  # step_bytes
    t55 = t10*t29  # step_bytes
    t67 = maximum(t28*x115, t29*x114)  # level_time
    t108 = maximum(t28*x152, t29*x153)  # level_time
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x167*(t150 - 2)) + maximum(t28*x168, t29*x169)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t51 = x95  # gpu_memory
    t58 = t10*t33  # step_bytes
    t59 = t10*t34  # step_bytes
    t69 = maximum(t33*x115, t34*x114)  # level_time
    t110 = maximum(t33*x152, t34*x153)  # level_time
    t157 = (
        t155*where(less_equal(t156, 1), alpha_1, alpha_2 + x167*(t156 - 2)) + maximum(t33*x168, t34*x169)
    )  # expected_level
    t192 = t10*t191  # expected_step
    t188 = t10*t187  # expected_step
    t18 = x43  # stage_rank_params
    t37 = where(x69, t0*x43, where(x72, x41*x79 + x78*x79, x74*x79))  # dualpipe_state
    x116 = b_grad*x100
    x118 = b_w*x100
    t61 = t60*x100  # dp_nvlink
    x117 = b_grad*x101
    x119 = b_w*x101
    t62 = t60*x101  # dp_network
    t35 = where(x69, x43*x68, where(x72, x41*x68 + x42*x68, x68*x75))  # dualpipe_state
    t36 = where(x69, x43*x76, where(x70, x42*x76 + x77, where(x71, x73*x76*x78 + x73*x77, x75*x76)))  # dualpipe_state
    t92 = t86 + t87  # microbatch_time
    t133 = t127 + t128  # microbatch_time
    t194 = t10*t193  # expected_step
    x120 = g_tp*t67
    x154 = g_tp*t108
    x180 = g_tp*t151
    t56 = t10*t31  # step_bytes
    t57 = t10*t32  # step_bytes
    t68 = maximum(t31*x115, t32*x114)  # level_time
    t109 = maximum(t31*x152, t32*x153)  # level_time
    t154 = (
        t152*where(less_equal(t153, 1), alpha_1, alpha_2 + x167*(t153 - 2)) + maximum(t31*x168, t32*x169)
    )  # expected_level
    x122 = g_ep*t69
    x156 = g_ep*t110
    x182 = g_ep*t157
    x105 = t18*x103
    x144 = t18*x142
    x173 = b_acc*t18
    t49 = (
        t18*x93*where(x70, 0, where(x71, b_grad, b_grad + x68)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t50 = V_fix + b_bucket*t18*minimum(1, x94) + t47  # framework_memory
    t181 = where(x71, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t70 = x116  # dp_nvlink
    t111 = x116  # dp_nvlink
    t158 = x116  # dp_nvlink
    t73 = x118  # dp_nvlink
    t114 = x118  # dp_nvlink
    t162 = x118  # dp_nvlink
    t71 = x117  # dp_network
    t112 = x117  # dp_network
    t159 = x117  # dp_network
    t74 = x119  # dp_network
    t115 = x119  # dp_network
    t163 = x119  # dp_network
    t38 = t35 + t36 + t37  # replicated_state
    t93 = t10*t92  # step_sum
    t134 = t10*t133  # step_sum
    t94 = x120  # microbatch_time
    t135 = x154  # microbatch_time
    t199 = x179 + maximum(0, x180)  # expected_microbatch
    x121 = g_cp*t68
    x155 = g_cp*t109
    x181 = g_cp*t154
    t98 = x122  # microbatch_time
    t139 = x156  # microbatch_time
    t203 = maximum(0, x182)  # expected_microbatch
    x108 = maximum(b_w*x105, t15*x107)
    x113 = maximum(x105*x110, x107*x112)
    x145 = b_w*x144
    x150 = x110*x144
    t183 = b_upd*x144*where(x69, 1, x73) + t_fix  # update_time
    t168 = x142*(x173 + x174 + x175) + x63*(x176*x178 + x177)  # microbatch_gpu_time
    t197 = x142*x173  # microbatch_gpu_time
    x96 = t49 + t50
    t72 = maximum(t70*x115, t71*x114)  # level_time
    t113 = maximum(t111*x152, t112*x153)  # level_time
    t161 = maximum(t158*x168, t159*x169)  # expected_level
    t75 = maximum(t73*x115, t74*x114)  # level_time
    t116 = maximum(t114*x152, t115*x153)  # level_time
    t165 = maximum(t162*x168, t163*x169)  # expected_level
    t95 = t10*t94  # step_sum
    t136 = t10*t135  # step_sum
    t200 = t10*t199  # expected_step
    t96 = x121  # microbatch_time
    t137 = x155  # microbatch_time
    t201 = maximum(0, x181)  # expected_microbatch
    t99 = t10*t98  # step_sum
    t140 = t10*t139  # step_sum
    t204 = t10*t203  # expected_step
    t65 = x104 + x108  # stage_forward
    t77 = x108  # stage_forward
    t66 = x109 + x113  # stage_backward
    t85 = x113  # stage_backward
    x148 = maximum(x145, t15*x147)
    x172 = maximum(x145, t15*x171)
    x151 = maximum(x150, x112*x147)
    t167 = x149 + maximum(x150, x112*x171)  # stage_backward
    x183 = t168 + t169 + x180 + x181 + x182
    t198 = t10*t197  # expected_step
    t52 = x96  # gpu_memory
    t53 = t38 + x95 + x96  # gpu_memory
    x186 = 2*t161
    t97 = t10*t96  # step_sum
    t138 = t10*t137  # step_sum
    t202 = t10*t201  # expected_step
    x128 = -t65 + t75
    x123 = t65 + t66
    x126 = -t66*x125
    x127 = -t66 + t72
    t90 = t77 + t85  # microbatch_time
    t106 = x143 + x148  # stage_forward
    t118 = x148  # stage_forward
    t166 = x143 + x172  # stage_forward
    t174 = x172  # stage_forward
    t107 = x149 + x151  # stage_backward
    t126 = x151  # stage_backward
    x185 = -t167
    x187 = -t167*x125
    t171 = x179 + maximum(t170, x183)  # expected_microbatch
    t205 = maximum(0, t170 - x183)  # host_wait
    t179 = where(x69, x186, where(x70, t161 + t165, where(x71, t10*t161 + t165, t10*(t161 + 2*t165))))  # dp_exchange
    x129 = maximum(maximum(0, x128*x26), -t65*x125 + t75)
    t76 = x120 + x121 + x122 + x123  # microbatch_time
    t91 = t10*t90  # step_sum
    x161 = -t106 + t116
    x189 = t165 - t166
    x157 = t106 + t107
    x159 = -t107*x125
    x160 = -t107 + t113
    t131 = t118 + t126  # microbatch_time
    x188 = t161 + x185
    x184 = t171/(t166 + t167)
    t206 = t10*t205  # expected_step
    t80 = (
        where(x69, maximum(maximum(0, 2*t72 + x126), x26*(-t66 + 2*t72)), where(x70, x129 + maximum(maximum(0,
        x127*x26), t72 + x126), where(x71, t10*maximum(0, x127) + x129, t10*(maximum(0, x128) + maximum(0, -t66 + t72 +
        t75)))))
    )  # exposed_dp
    x124 = t76/x123
    x162 = maximum(maximum(0, x161*x26), -t106*x125 + t116)
    x190 = maximum(maximum(0, x189*x26), t165 - t166*x125)
    t117 = x154 + x155 + x156 + x157  # microbatch_time
    t132 = t10*t131  # step_sum
    t172 = t166*x184  # forward_slot
    t173 = t167*x184  # backward_slot
    t78 = t65*x124  # forward_slot
    t79 = t66*x124  # backward_slot
    t121 = (
        where(x69, maximum(maximum(0, 2*t113 + x159), x26*(-t107 + 2*t113)), where(x70, x162 + maximum(maximum(0,
        x160*x26), t113 + x159), where(x71, t10*maximum(0, x160) + x162, t10*(maximum(0, x161) + maximum(0, -t107 + t113
        + t116)))))
    )  # exposed_dp
    t175 = (
        where(x69, maximum(maximum(0, x186 + x187), x26*(x185 + x186)), where(x70, x190 + maximum(maximum(0, x188*x26),
        t161 + x187), where(x71, t10*maximum(0, x188) + x190, t10*(maximum(0, x189) + maximum(0, t165 + x188)))))
    )  # exposed_dp
    x158 = t117/x157
    x191 = t173 - t174
    x132 = t77 - t79
    t182 = (
        alpha_dp*t180*t181*x94 + minimum(t179, g_dp*(-t175 + t179)*minimum(1, n_zero + x28) + n_edge*t179*x93 + t175)
    )  # expected_dp
    t119 = t106*x158  # forward_slot
    t120 = t107*x158  # backward_slot
    t177 = (
        x131*(t172 + x191 + maximum(t172, x191) - minimum(t174, x191)) - minimum(t172, x131*maximum(0, -t172 + t173 -
        t174))
    )  # dualpipe_bubble
    x133 = -x132
    x163 = t118 - t120
    t184 = t10*t171 + t177 + t178 + t182 + t183  # expected_step
    t82 = (
        x131*(-t77 + t78 + t79 + maximum(t78, x133) - minimum(t77, x133)) - minimum(t78, x131*maximum(0, -t78 - x132))
    )  # dualpipe_bubble
    x164 = -x163
    t208 = t207*x140/t184  # mfu
    t84 = t10*t76 + t80 + t82 + t83  # step_sum
    t123 = (
        x131*(-t118 + t119 + t120 + maximum(t119, x164) - minimum(t118, x164)) - minimum(t119, x131*maximum(0, -t119 -
        x163))
    )  # dualpipe_bubble
    t101 = t100*x140/t84  # mfu
    t125 = t10*t117 + t121 + t123 + t124  # step_sum
    t142 = t141*x140/t125  # mfu
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
