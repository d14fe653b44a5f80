"""Plans with the schedule gpipe and latent attention; behind a line, the formula of gpuscale.llm that it ends.

Printed by ``make printed``; do not edit.
"""

from numpy import ceil, greater_equal, less, less_equal, logical_or, maximum, minimum, where


def search(C, b, b_w, W_hbm, W_nvl, B, D, F, L, P, P_act, S, n_seq, n_q, n_kv, d_head, n_mat, n_vocab, N_gpu, F_dense,
           L_dense, n_shared, n_emb, n_pos, n_bias, r_q, r_kv, d_nope, d_rope, d_v, ops_attn, b_kept, b_mask, b_logit,
           b_grad, b_master, b_mom, P_exp, G, W_node, X, Y, Z, k, f_hit, alpha_1, alpha_2, alpha_rank, n_cp, V_bucket,
           N_stages, n_virt, n_zero, n_recompute, n_even, n_sp, n_drop, f_node, g_tp, g_cp, g_ep, n_copy, n_wide,
           n_gather, b_bucket, V_fix, eta_hbm, g_attn, g_ker, b_loss, b_acc, b_upd, t_host, t_cross, t_head, t_far,
           t_fix, alpha_dp, g_dp, gamma_net, g_grp, n_edge, eta_mat, eta_nvl, eta_net, eta_attn):
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
    x79 = 4*D
    x82 = less(n_drop, 1)
    x89 = X*n_cp - 1
    x90 = W_node*eta_net
    x92 = G*alpha_rank
    t143 = W_nvl*eta_nvl  # reached_bandwidth
    t103 = W_hbm*eta_hbm  # reached_bandwidth
    t141 = C*eta_mat  # reached_flops
    x106 = greater_equal(G, N_gpu)
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t142 = C*eta_attn  # reached_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x83 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x72 = x18*x19
    x27 = x25*x26
    x110 = x26*(N_stages*(n_virt - 1) + 1)
    x105 = minimum(1, x28)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x95 = X*x59
    x67 = maximum(1, Z*x66)
    x91 = Y*x66
    t145 = maximum(1, N_gpu*x66)  # run_nodes
    t151 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    t144 = x90  # reached_bandwidth
    x93 = t143**(-1.0)
    x99 = t103**(-1.0)
    x101 = t141**(-1.0)
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    t39 = t10  # gpipe_held
    t178 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x85 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x80 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x87 = D*x51
    x96 = minimum(G, x95)
    t154 = x67  # spanned_nodes
    t148 = maximum(1, x91)  # spanned_nodes
    t146 = x90*maximum(1, (1/2)*t145)**(-gamma_net)  # many_nodes
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    x77 = b*x21
    x84 = x21*(D*x48 + x39*(x49 + x83))
    x86 = x21*(D*(8*b + x46) + x83)
    t11 = x21  # microbatch_tokens
    x94 = t146**(-1.0)
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x78 = x77*(D*n_gather*n_sp*(1 - x39) + t21*x39)
    x81 = where(x50, x77*(x39*x80 + x79), x39*x77*(x79 + x80))
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    t40 = x78 + where(x82, x81, where(x50, x39*x85 + x84, x39*(x85 + x86)))  # whole_layer
    t41 = x78 + where(x82, x81, where(x50, x84, x39*x86))  # coreless_layer
    x102 = x101*x63
    x115 = x4*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x87*(x47 + x6)), where(x36, x77*x87, t41)))
    )  # layer_kept
    t174 = (
        where(x38, 0, where(x106, alpha_1, alpha_2)) + where(x38, 0, where(x106, x115*x93, x115/minimum(t143,
        t144*x66)))
    )  # expected_hop
    x30 = t13 - x29
    x116 = -t174
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x88 = t14**(-1.0)
    x104 = ops_attn*t14
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t46 = t14*t42 + t45*x39  # last_stage_activations
    t147 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t168 = t_head + t14*(Y*t_cross*x105*where(x106, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x103 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t150 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t153 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t167 = 6*F*n_mat*x102*x44*x64*(g_grp - 1)  # grouped_time
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x60 = t30*x39
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    x43 = x41 + x42
    x75 = b_grad*x41
    x97 = x41*(-Y/maximum(Y, x96) + 1) + x42*(-Z/maximum(Z, x96) + 1)
    x98 = x41*x57*(-x61/maximum(maximum(G, Y), x95) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x95) + 1)
    t149 = (
        t147*where(less_equal(t148, 1), alpha_1, alpha_2 + x92*(t148 - 2)) + maximum(t28*x93, t29*x94)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t155 = (
        t153*where(less_equal(t154, 1), alpha_1, alpha_2 + x92*(t154 - 2)) + maximum(t33*x93, t34*x94)
    )  # expected_level
    t18 = x43  # stage_rank_params
    t35 = where(x68, b_w*x43, where(x71, b_w*x41 + b_w*x42, b_w*x74))  # stage_state
    t37 = where(x68, t0*x43, where(x71, t0*x41*x72 + t0*x76, t0*x74))  # stage_state
    t36 = (
        where(x68, b_grad*x43, where(x69, b_grad*x42 + x75, where(x70, b_grad*x76 + x72*x75, b_grad*x74)))
    )  # stage_state
    t156 = b_grad*x97  # dp_nvlink
    t160 = b_w*x97  # dp_nvlink
    t157 = b_grad*x98  # dp_network
    t161 = b_w*x98  # dp_network
    t152 = (
        t150*where(less_equal(t151, 1), alpha_1, alpha_2 + x92*(t151 - 2)) + maximum(t31*x93, t32*x94)
    )  # expected_level
    x100 = t18*x99
    t47 = (
        t18*x88*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t48 = V_fix + b_bucket*t18*minimum(1, x89)  # framework_memory
    t166 = (
        x63*(x101*(3*t15 + x103 - 3*x104) + x104*(g_attn + 1)/t142) + x99*(b_acc*t18 + b_loss*n_vocab*x63 + g_ker*(t25 +
        t26))
    )  # microbatch_gpu_time
    t179 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t159 = maximum(t156*x93, t157*x94)  # expected_level
    t163 = maximum(t160*x93, t161*x94)  # expected_level
    t164 = t25*x99 + maximum(b_w*x100, t15*x102)  # stage_forward
    t165 = t26*x99 + maximum(x100*(2*b_grad + b_w), x102*(2*t15 + x103))  # stage_backward
    t181 = b_upd*x100*where(x68, 1, x72) + t_fix  # update_time
    t169 = (
        t_far*t14*maximum(0, -G + Y)*where(x38, 1, x91) + maximum(t168, g_cp*t152 + g_ep*t155 + g_tp*t149 + t166 + t167)
    )  # expected_microbatch
    t51 = t38 + t47 + t48 + maximum(t44, t46)  # gpu_memory
    x109 = 2*t159
    x113 = t163 - t164
    x108 = -t165
    x111 = -t165*x110
    x107 = t169/(t164 + t165)
    t177 = where(x68, x109, where(x69, t159 + t163, where(x70, t10*t159 + t163, t10*(t159 + 2*t163))))  # dp_exchange
    x114 = maximum(maximum(0, x113*x26), t163 - t164*x110)
    x112 = t159 + x108
    t170 = t164*x107  # forward_slot
    t171 = t165*x107  # backward_slot
    t173 = (
        where(x68, maximum(maximum(0, x109 + x111), x26*(x108 + x109)), where(x69, x114 + maximum(maximum(0, x112*x26),
        t159 + x111), where(x70, t10*maximum(0, x112) + x114, t10*(maximum(0, x113) + maximum(0, t163 + x112)))))
    )  # exposed_dp
    t175 = x28*(t170 + t171)  # bubble_time
    t176 = t174*(2*N_stages - 2) + x105*(t10 - 1)*(maximum(0, -t170 - x116) + maximum(0, -t171 - x116))  # gpipe_exposed
    t180 = (
        alpha_dp*t178*t179*x89 + minimum(t177, g_dp*(-t173 + t177)*minimum(1, n_zero + x28) + n_edge*t177*x88 + t173)
    )  # expected_dp
    t182 = t10*t169 + t175 + t176 + t180 + t181  # expected_step
    return [t51, t38, t182]


def columns(C, b, b_w, W_hbm, W_nvl, B, D, F, eta, L, P, P_act, S, n_seq, n_q, n_kv, d_head, n_mat, n_vocab, N_gpu,
            F_dense, L_dense, n_shared, n_emb, n_pos, n_bias, r_q, r_kv, d_nope, d_rope, d_v, ops_tok, ops_attn, b_kept,
            b_mask, b_logit, b_grad, b_master, b_mom, P_exp, G, W_node, X, Y, Z, k, f_hit, alpha_1, alpha_2, alpha_rank,
            n_cp, V_bucket, N_stages, n_virt, n_zero, n_recompute, n_even, n_sp, n_drop, f_node, g_tp, g_cp, g_ep,
            n_copy, n_wide, n_gather, b_bucket, V_fix, eta_1, eta_2, eta_hbm, g_attn, g_ker, b_loss, b_acc, b_upd,
            t_host, t_cross, t_head, t_far, t_fix, alpha_dp, g_dp, gamma_net, g_grp, n_edge, eta_mat, eta_nvl, eta_net,
            eta_attn):
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
    x79 = 4*D
    x82 = less(n_drop, 1)
    x89 = X*n_cp - 1
    x98 = W_hbm**(-1.0)
    x101 = C**(-1.0)
    x105 = 2*b_grad + b_w
    x109 = W_node**(-1.0)
    x110 = W_nvl**(-1.0)
    x125 = greater_equal(G, N_gpu)
    x126 = 2*N_stages - 2
    x130 = 3*B
    x132 = N_gpu**(-1.0)
    t103 = W_hbm*eta_hbm  # reached_bandwidth
    t100 = C*eta  # reached_flops
    t101 = W_nvl*eta_1  # reached_bandwidth
    t102 = W_node*eta_2  # reached_bandwidth
    x157 = W_node*eta_net
    x159 = G*alpha_rank
    t143 = W_nvl*eta_nvl  # reached_bandwidth
    t141 = C*eta_mat  # reached_flops
    t142 = C*eta_attn  # reached_flops
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t183 = 6*B*P_act  # model_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x83 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x72 = x18*x19
    x27 = x25*x26
    x120 = x26*(N_stages*(n_virt - 1) + 1)
    x128 = minimum(1, x28)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x93 = X*x59
    x67 = maximum(1, Z*x66)
    x158 = Y*x66
    t145 = maximum(1, N_gpu*x66)  # run_nodes
    t151 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    x131 = x130*(2*P_act + x34)
    x134 = ops_tok*x130
    x133 = x101*x132
    x135 = t103**(-1.0)
    x139 = t100**(-1.0)
    x145 = t101**(-1.0)
    x146 = t102**(-1.0)
    t144 = x157  # reached_bandwidth
    x160 = t143**(-1.0)
    x162 = t141**(-1.0)
    x169 = (g_attn + 1)/t142
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    x92 = 2*t10
    t39 = t10  # gpipe_held
    t178 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x85 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x129 = x128*(t10 - 1)
    x56 = 2*x55 + 4
    x80 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x87 = D*x51
    x94 = minimum(G, x93)
    t154 = x67  # spanned_nodes
    t148 = maximum(1, x158)  # spanned_nodes
    t146 = x157*maximum(1, (1/2)*t145)**(-gamma_net)  # many_nodes
    t86 = x131  # model_flops
    t127 = x131  # model_flops
    t98 = x134  # counted_flops
    t139 = x134  # counted_flops
    t205 = x134  # counted_flops
    t184 = t183*x132*x162  # mfu_step_time
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    t58 = b_grad*where(x68, 2, where(x69, 1, t10)) + b_w*where(x68, 0, where(x70, 1, x92))  # dp_passes
    x77 = b*x21
    x84 = x21*(D*x48 + x39*(x49 + x83))
    x86 = x21*(D*(8*b + x46) + x83)
    t11 = x21  # microbatch_tokens
    x161 = t146**(-1.0)
    t87 = t86*x133  # mfu_step_time
    t128 = t127*x132*x139  # mfu_step_time
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x78 = x77*(D*n_gather*n_sp*(1 - x39) + t21*x39)
    x81 = where(x50, x77*(x39*x80 + x79), x39*x77*(x79 + x80))
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    t40 = x78 + where(x82, x81, where(x50, x39*x85 + x84, x39*(x85 + x86)))  # whole_layer
    t41 = x78 + where(x82, x81, where(x50, x84, x39*x86))  # coreless_layer
    x97 = x4*x63
    x102 = x101*x63
    x140 = x139*x63
    x163 = x162*x63
    x166 = b_loss*n_vocab*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x87*(x47 + x6)), where(x36, x77*x87, t41)))
    )  # layer_kept
    t61 = x97  # sharded_hop_bytes
    t79 = where(x38, 0, where(x125, x110*x97, x97/minimum(W_nvl, W_node*x66)))  # stage_hop
    t120 = where(x38, 0, where(x125, x145*x97, x97/minimum(t101, t102*x66)))  # stage_hop
    t174 = (
        where(x38, 0, where(x125, alpha_1, alpha_2)) + where(x38, 0, where(x125, x160*x97, x97/minimum(t143, t144*x66)))
    )  # expected_hop
    t193 = x135*x166  # microbatch_gpu_time
    x30 = t13 - x29
    t62 = where(x38, 0, n_virt*t61*x92)  # pipeline_bytes
    x127 = -t79
    x156 = -t120
    x182 = -t174
    t194 = t10*t193  # expected_step
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x88 = t14**(-1.0)
    x167 = ops_attn*t14
    x170 = t_far*t14*maximum(0, -G + Y)*where(x38, 1, x158)
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t46 = t14*t42 + t45*x39  # last_stage_activations
    t147 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t168 = t_head + t14*(Y*t_cross*x128*where(x125, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x106 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t187 = ops_attn*x169*x39*x53  # microbatch_gpu_time
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t150 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t153 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t167 = 6*F*n_mat*x163*x44*x64*(g_grp - 1)  # grouped_time
    x107 = 2*t15 + x106
    x168 = x162*(3*t15 + x106 - 3*x167)
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    x99 = t25*x98
    x136 = t25*x135
    x104 = t26*x98
    x142 = t26*x135
    x165 = g_ker*(t25 + t26)
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t188 = t10*t187  # expected_step
    x60 = t30*x39
    x90 = maximum(t44, t46)
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    t189 = maximum(0, t167)  # expected_microbatch
    t185 = x168*x63  # microbatch_gpu_time
    x43 = x41 + x42
    x75 = b_grad*x41
    x95 = x41*(-Y/maximum(Y, x94) + 1) + x42*(-Z/maximum(Z, x94) + 1)
    x96 = x41*x57*(-x61/maximum(maximum(G, Y), x93) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x93) + 1)
    t84 = x99  # stage_forward
    t125 = x136  # stage_forward
    t85 = x104  # stage_backward
    t126 = x142  # stage_backward
    t191 = x135*x165  # microbatch_gpu_time
    t52 = t10*t28  # step_bytes
    t53 = t10*t29  # step_bytes
    t65 = maximum(t28*x110, t29*x109)  # level_time
    t106 = maximum(t28*x145, t29*x146)  # level_time
    t149 = (
        t147*where(less_equal(t148, 1), alpha_1, alpha_2 + x159*(t148 - 2)) + maximum(t28*x160, t29*x161)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t49 = x90  # gpu_memory
    t56 = t10*t33  # step_bytes
    t57 = t10*t34  # step_bytes
    t67 = maximum(t33*x110, t34*x109)  # level_time
    t108 = maximum(t33*x145, t34*x146)  # level_time
    t155 = (
        t153*where(less_equal(t154, 1), alpha_1, alpha_2 + x159*(t154 - 2)) + maximum(t33*x160, t34*x161)
    )  # expected_level
    t190 = t10*t189  # expected_step
    t186 = t10*t185  # expected_step
    t18 = x43  # stage_rank_params
    t35 = where(x68, b_w*x43, where(x71, b_w*x41 + b_w*x42, b_w*x74))  # stage_state
    t37 = where(x68, t0*x43, where(x71, t0*x41*x72 + t0*x76, t0*x74))  # stage_state
    t36 = (
        where(x68, b_grad*x43, where(x69, b_grad*x42 + x75, where(x70, b_grad*x76 + x72*x75, b_grad*x74)))
    )  # stage_state
    x111 = b_grad*x95
    x113 = b_w*x95
    t59 = t58*x95  # dp_nvlink
    x112 = b_grad*x96
    x114 = b_w*x96
    t60 = t58*x96  # dp_network
    t90 = t84 + t85  # microbatch_time
    t131 = t125 + t126  # microbatch_time
    t192 = t10*t191  # expected_step
    x115 = g_tp*t65
    x147 = g_tp*t106
    x171 = g_tp*t149
    t54 = t10*t31  # step_bytes
    t55 = t10*t32  # step_bytes
    t66 = maximum(t31*x110, t32*x109)  # level_time
    t107 = maximum(t31*x145, t32*x146)  # level_time
    t152 = (
        t150*where(less_equal(t151, 1), alpha_1, alpha_2 + x159*(t151 - 2)) + maximum(t31*x160, t32*x161)
    )  # expected_level
    x117 = g_ep*t67
    x149 = g_ep*t108
    x173 = g_ep*t155
    x100 = t18*x98
    x137 = t18*x135
    x164 = b_acc*t18
    t47 = (
        t18*x88*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t48 = V_fix + b_bucket*t18*minimum(1, x89)  # framework_memory
    t179 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t68 = x111  # dp_nvlink
    t109 = x111  # dp_nvlink
    t156 = x111  # dp_nvlink
    t71 = x113  # dp_nvlink
    t112 = x113  # dp_nvlink
    t160 = x113  # dp_nvlink
    t69 = x112  # dp_network
    t110 = x112  # dp_network
    t157 = x112  # dp_network
    t72 = x114  # dp_network
    t113 = x114  # dp_network
    t161 = x114  # dp_network
    t91 = t10*t90  # step_sum
    t132 = t10*t131  # step_sum
    t92 = x115  # microbatch_time
    t133 = x147  # microbatch_time
    t197 = x170 + maximum(0, x171)  # expected_microbatch
    x116 = g_cp*t66
    x148 = g_cp*t107
    x172 = g_cp*t152
    t96 = x117  # microbatch_time
    t137 = x149  # microbatch_time
    t201 = maximum(0, x173)  # expected_microbatch
    x103 = maximum(b_w*x100, t15*x102)
    x108 = maximum(x100*x105, x102*x107)
    x138 = b_w*x137
    x143 = x105*x137
    t181 = b_upd*x137*where(x68, 1, x72) + t_fix  # update_time
    t166 = x135*(x164 + x165 + x166) + x63*(x167*x169 + x168)  # microbatch_gpu_time
    t195 = x135*x164  # microbatch_gpu_time
    x91 = t47 + t48
    t70 = maximum(t68*x110, t69*x109)  # level_time
    t111 = maximum(t109*x145, t110*x146)  # level_time
    t159 = maximum(t156*x160, t157*x161)  # expected_level
    t73 = maximum(t71*x110, t72*x109)  # level_time
    t114 = maximum(t112*x145, t113*x146)  # level_time
    t163 = maximum(t160*x160, t161*x161)  # expected_level
    t93 = t10*t92  # step_sum
    t134 = t10*t133  # step_sum
    t198 = t10*t197  # expected_step
    t94 = x116  # microbatch_time
    t135 = x148  # microbatch_time
    t199 = maximum(0, x172)  # expected_microbatch
    t97 = t10*t96  # step_sum
    t138 = t10*t137  # step_sum
    t202 = t10*t201  # expected_step
    t63 = x103 + x99  # stage_forward
    t75 = x103  # stage_forward
    t64 = x104 + x108  # stage_backward
    t83 = x108  # stage_backward
    x141 = maximum(x138, t15*x140)
    t164 = x136 + maximum(x138, t15*x163)  # stage_forward
    x144 = maximum(x143, x107*x140)
    t165 = x142 + maximum(x143, x107*x163)  # stage_backward
    x174 = t166 + t167 + x171 + x172 + x173
    t196 = t10*t195  # expected_step
    t50 = x91  # gpu_memory
    t51 = t38 + x90 + x91  # gpu_memory
    x177 = 2*t159
    t95 = t10*t94  # step_sum
    t136 = t10*t135  # step_sum
    t200 = t10*t199  # expected_step
    x123 = -t63 + t73
    x118 = t63 + t64
    x121 = -t64*x120
    x122 = -t64 + t70
    t88 = t75 + t83  # microbatch_time
    t104 = x136 + x141  # stage_forward
    t116 = x141  # stage_forward
    x180 = t163 - t164
    t105 = x142 + x144  # stage_backward
    t124 = x144  # stage_backward
    x176 = -t165
    x178 = -t165*x120
    t169 = x170 + maximum(t168, x174)  # expected_microbatch
    t203 = maximum(0, t168 - x174)  # host_wait
    t177 = where(x68, x177, where(x69, t159 + t163, where(x70, t10*t159 + t163, t10*(t159 + 2*t163))))  # dp_exchange
    x124 = maximum(maximum(0, x123*x26), -t63*x120 + t73)
    t74 = x115 + x116 + x117 + x118  # microbatch_time
    t89 = t10*t88  # step_sum
    x154 = -t104 + t114
    x181 = maximum(maximum(0, x180*x26), t163 - t164*x120)
    x150 = t104 + t105
    x152 = -t105*x120
    x153 = -t105 + t111
    t129 = t116 + t124  # microbatch_time
    x179 = t159 + x176
    x175 = t169/(t164 + t165)
    t204 = t10*t203  # expected_step
    t78 = (
        where(x68, maximum(maximum(0, 2*t70 + x121), x26*(-t64 + 2*t70)), where(x69, x124 + maximum(maximum(0,
        x122*x26), t70 + x121), where(x70, t10*maximum(0, x122) + x124, t10*(maximum(0, x123) + maximum(0, -t64 + t70 +
        t73)))))
    )  # exposed_dp
    x119 = t74/x118
    x155 = maximum(maximum(0, x154*x26), -t104*x120 + t114)
    t115 = x147 + x148 + x149 + x150  # microbatch_time
    t130 = t10*t129  # step_sum
    t173 = (
        where(x68, maximum(maximum(0, x177 + x178), x26*(x176 + x177)), where(x69, x181 + maximum(maximum(0, x179*x26),
        t159 + x178), where(x70, t10*maximum(0, x179) + x181, t10*(maximum(0, x180) + maximum(0, t163 + x179)))))
    )  # exposed_dp
    t170 = t164*x175  # forward_slot
    t171 = t165*x175  # backward_slot
    t76 = t63*x119  # forward_slot
    t77 = t64*x119  # backward_slot
    t119 = (
        where(x68, maximum(maximum(0, 2*t111 + x152), x26*(-t105 + 2*t111)), where(x69, x155 + maximum(maximum(0,
        x153*x26), t111 + x152), where(x70, t10*maximum(0, x153) + x155, t10*(maximum(0, x154) + maximum(0, -t105 + t111
        + t114)))))
    )  # exposed_dp
    x151 = t115/x150
    t180 = (
        alpha_dp*t178*t179*x89 + minimum(t177, g_dp*(-t173 + t177)*minimum(1, n_zero + x28) + n_edge*t177*x88 + t173)
    )  # expected_dp
    t175 = x28*(t170 + t171)  # bubble_time
    t176 = t174*x126 + x129*(maximum(0, -t170 - x182) + maximum(0, -t171 - x182))  # gpipe_exposed
    t80 = x28*(t76 + t77)  # bubble_time
    t81 = t79*x126 + x129*(maximum(0, -t76 - x127) + maximum(0, -t77 - x127))  # gpipe_exposed
    t117 = t104*x151  # forward_slot
    t118 = t105*x151  # backward_slot
    t182 = t10*t169 + t175 + t176 + t180 + t181  # expected_step
    t82 = t10*t74 + t78 + t80 + t81  # step_sum
    t121 = x28*(t117 + t118)  # bubble_time
    t122 = t120*x126 + x129*(maximum(0, -t117 - x156) + maximum(0, -t118 - x156))  # gpipe_exposed
    t206 = t205*x133/t182  # mfu
    t99 = t98*x133/t82  # mfu
    t123 = t10*t115 + t119 + t121 + t122  # step_sum
    t140 = t139*x133/t123  # mfu
    return [
        t10, t14, t35, t36, t37, t38, t49, t50, t51, t52, t53, t54, t55, t56, t57, t59, t60, t62, t87, t89, t91, t93,
        t95, t97, t78, t81, t80, t82, t99, t128, t130, t132, t134, t136, t138, t119, t122, t121, t123, t140, t184, t186,
        t188, t190, t192, t194, t196, t198, t200, t202, t204, t175, t176, t180, t181, t182, t206,
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
