"""Plans with the schedule 1f1b and attention; behind a line, the formula of gpuscale.llm that it ends.

Printed by ``make printed``; do not edit.
"""

from numpy import ceil, greater_equal, less, less_equal, logical_or, maximum, minimum, where


def search(C, b, b_w, W_hbm, W_nvl, B, D, F, L, P, P_act, S, n_seq, n_q, n_kv, d_head, n_mat, n_vocab, N_gpu, F_dense,
           L_dense, n_shared, n_emb, n_pos, n_bias, ops_attn, b_kept, b_mask, b_logit, b_grad, b_master, b_mom, P_exp,
           G, W_node, X, Y, Z, k, f_hit, alpha_1, alpha_2, alpha_rank, n_cp, V_bucket, N_stages, n_virt, n_zero,
           n_recompute, n_even, n_sp, n_drop, f_node, g_tp, g_cp, g_ep, n_copy, n_wide, n_gather, b_bucket, V_fix,
           eta_hbm, g_attn, g_ker, b_loss, b_acc, b_upd, t_host, t_cross, t_head, t_far, t_fix, alpha_dp, g_dp,
           gamma_net, g_grp, n_edge, eta_mat, eta_nvl, eta_net, eta_attn):
    """The columns by which a search decides."""
    t2 = maximum(Y, n_kv)  # whole_key_heads
    x2 = L**(-1.0)
    x3 = F_dense*L_dense
    x4 = L - L_dense
    x5 = F*(k + n_shared)
    x8 = 4*b
    x9 = S*n_drop*n_q
    x12 = D*b
    x13 = 2*b
    x15 = D*n_vocab
    x17 = X**(-1.0)
    x18 = n_cp**(-1.0)
    x24 = N_stages**(-1.0)
    x25 = n_virt**(-1.0)
    x27 = N_stages - 1
    x30 = less(n_even, 1)
    x32 = less(n_recompute, 1)
    x33 = L*ops_attn
    x34 = less(n_recompute, 2)
    x35 = less(n_recompute, 3)
    x37 = less(N_stages, 2)
    x38 = Y**(-1.0)
    x43 = D*k
    x44 = n_mat - 1
    x45 = 2*b_mask
    x49 = less(n_sp, 1)
    x56 = minimum(G, Y)
    x58 = Y*n_cp
    x60 = maximum(G, Y)
    x61 = minimum(G, Z)
    t1 = minimum(b, b_w)  # dispatch_bytes
    x65 = G**(-1.0)
    x67 = less(n_zero, 1)
    x68 = less(n_zero, 2)
    x69 = less(n_zero, 3)
    x76 = less(n_virt, 2)
    x79 = 4*D
    x82 = less(n_drop, 1)
    x89 = X*n_cp - 1
    x90 = W_node*eta_net
    x92 = G*alpha_rank
    t138 = W_nvl*eta_nvl  # reached_bandwidth
    t100 = W_hbm*eta_hbm  # reached_bandwidth
    t136 = C*eta_mat  # reached_flops
    x105 = greater_equal(G, N_gpu)
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t137 = C*eta_attn  # reached_flops
    x0 = d_head*(n_q + t2)
    x1 = 2*t2
    x16 = 2*d_head*(-n_kv + t2)
    x53 = L_dense*x2 + 1
    x6 = x2*(x3 + x4*x5)
    x48 = D*x8
    x10 = x9*(b_mask + x8)
    x83 = F*x13
    x22 = 2*x15
    t9 = B*x17/(S*n_seq)  # microbatches
    x19 = n_seq*x18
    x71 = x17*x18
    x26 = x24*x25
    x108 = x25*(N_stages*(n_virt - 1) + 1)
    x54 = where(x34, 0, where(x35, 1, 0))
    t18 = x2*(n_mat*x3 + x4*(n_mat*x5 + 2*x43))  # mean_kept_mlp
    t19 = x2*(x3*x44 + x4*(x43 + x44*x5))  # mean_few_mlp
    x46 = n_drop*x45
    x47 = x45 + x8
    x50 = where(x49, 1, x38)
    x95 = X*x58
    x66 = maximum(1, Z*x65)
    x91 = Y*x65
    t140 = maximum(1, N_gpu*x65)  # run_nodes
    t146 = maximum(1, x58*x65)  # spanned_nodes
    x70 = logical_or.reduce((x68,x69))
    t139 = x90  # reached_bandwidth
    x93 = t138**(-1.0)
    x99 = t100**(-1.0)
    x101 = t136**(-1.0)
    x14 = x12*x2*x4*(3*k + n_shared + 1) + where(less(n_pos, 1), x0*x13, 0)
    t3 = 2*x0  # kept_attention
    t4 = d_head*(n_q + x1)  # few_attention
    t8 = D*x16 + x2*(P_act - x15)  # mean_layer_matrices
    x7 = b*x6
    t20 = D*n_copy + n_wide*x6  # framework_elements
    t23 = x48  # norms_forward
    t38 = where(x76, minimum(N_stages, t9), minimum(n_virt*t9, N_stages*(n_virt + 1) - 1))  # first_stage_held
    t170 = where(x68, 1, where(x69, t9, 3*t9))  # dp_rounds
    x20 = S*x19
    x85 = S**2*n_q*x19*(b_mask + x13)
    x72 = x38*x71
    x28 = n_virt*ceil(L*x26)
    x55 = 2*x54 + 4
    t21 = D*(10*b + x46)  # between_forward
    t22 = D*(12*b + n_drop*x47)  # between_backward
    x87 = D*x50
    x96 = minimum(G, x95)
    t149 = x66  # spanned_nodes
    t143 = maximum(1, x91)  # spanned_nodes
    t141 = x90*maximum(1, (1/2)*t140)**(-gamma_net)  # many_nodes
    x80 = t18 + t3
    x21 = ops_attn + 2*t8
    x11 = n_mat*x7 + x10
    t6 = x14 + x7*(2*n_mat - 1) + x9*(5*b + b_mask)  # inside_backward
    x77 = b*x20
    x84 = x20*(D*x47 + x38*(x48 + x83))
    x86 = x20*(D*(8*b + x45) + x83)
    t10 = x20  # microbatch_tokens
    x94 = t141**(-1.0)
    x23 = x22/x21
    x31 = L*x21
    t5 = x11 + x14  # inside_forward
    t7 = x11  # inside_recompute
    x78 = x77*(D*n_gather*n_sp*(1 - x38) + t20*x38)
    x81 = where(x49, x77*(x38*x80 + x79), x38*x77*(x79 + x80))
    x62 = t10*x38
    t44 = t10*(D*x13 + b_logit*n_vocab)  # head_activations
    t11 = ceil(x23)  # head_layers
    t15 = where(x32, 0, where(x34, x33, where(x35, x31, x33)))  # recomputed_flops
    x51 = t21*x50 + t5*x38
    t39 = x78 + where(x82, x81, where(x49, x38*x85 + x84, x38*(x85 + x86)))  # whole_layer
    t40 = x78 + where(x82, x81, where(x49, x84, x38*x86))  # coreless_layer
    x102 = x101*x62
    x113 = x12*x62
    t12 = n_virt*minimum(ceil(x26*(L + t11)), ceil(L*x25/maximum(1, x27)))  # stage_room
    t41 = (
        where(x32, t39, where(x34, x20*(b_kept*x38*(t19 + t4) + x87*(x13 + x46)), where(x35, x77*x87, t40)))
    )  # layer_kept
    t166 = (
        where(x37, 0, where(x105, alpha_1, alpha_2)) + where(x37, 0, where(x105, x113*x93, x113/minimum(t138,
        t139*x65)))
    )  # expected_hop
    x29 = t12 - x28
    t168 = where(x76, 2*t166*(x27 + ceil(x24*x27*(t9 - 2))), t166*(2*N_stages*n_virt - 2))  # pipeline_exposed
    t13 = where(x30, t12 - x29*(2 - minimum(2, ceil(x23/maximum(1, x29)))), x28)  # stage_layers
    x36 = t13*x2
    x52 = t10*t13
    x57 = t13*(x54 + 3)
    x88 = t13**(-1.0)
    x104 = ops_attn*t13
    t14 = maximum(maximum(x22, x24*(x22 + x31)), t13*x21 + x22*where(x30, minimum(1, t12 - t13), 1))  # stage_flops
    t42 = t13*t38*x25  # flying_layers
    t45 = t13*t41 + t44*x38  # last_stage_activations
    t142 = where(less(Y, 2), 0, t13*x53*(3*n_sp + x54*(n_sp + 1) + 2))  # tp_calls
    t163 = t_head + t13*(Y*t_cross*minimum(1, x27)*where(x105, 0, 1) + t_host)  # microbatch_host_time
    x39 = P_exp*x36
    x63 = x36*x4
    x103 = t15*x36
    t16 = t13*x16*(D + n_bias) + x15*where(x37, n_emb, 1) + x36*(P - n_emb*x15)  # stage_params
    t24 = x51*x52  # kernels_forward
    t25 = (
        x52*(t22*x50 + t6*x38 + where(x32, 0, where(x34, t23*x50 + t7*x38, where(x35, x51, x10*x38))))
    )  # kernels_backward
    t26 = x12*x52*x53*(n_sp + x55)  # tp_bytes
    t29 = S*b*d_head*n_seq*x1*x57  # cp_bytes
    t145 = where(less(n_cp, 2), 0, x57)  # cp_calls
    t43 = t41*t42  # flying_activations
    x41 = x39/Z
    x75 = x39*x72
    x64 = D*Z*x62*x63*(b + t1)*(x54 + 2)
    t148 = where(less(Z, 2), 0, x55*x63)  # ep_calls
    t162 = 6*F*n_mat*x102*x43*x63*(g_grp - 1)  # grouped_time
    x40 = x38*(t16 - x39)
    x73 = t16*x72
    t27 = t26*(1 - 1/maximum(1, x56))  # group_nvlink
    t28 = t26*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x59 = t29*x38
    t32 = f_hit*x64*(x61 - 1)/x61  # exchange_nvlink
    t33 = f_node*x64*(x66 - 1)/x66  # exchange_network
    x42 = x40 + x41
    x74 = b_grad*x40
    x97 = x40*(-Y/maximum(Y, x96) + 1) + x41*(-Z/maximum(Z, x96) + 1)
    x98 = x40*x56*(-x60/maximum(maximum(G, Y), x95) + 1) + x41*x61*(-maximum(G, Z)/maximum(maximum(G, Z), x95) + 1)
    t144 = (
        t142*where(less_equal(t143, 1), alpha_1, alpha_2 + x92*(t143 - 2)) + maximum(t27*x93, t28*x94)
    )  # expected_level
    t30 = x59*(-Y/maximum(Y, minimum(G, x58)) + 1)  # group_nvlink
    t31 = x56*x59*(-x60/maximum(maximum(G, Y), x58) + 1)  # group_network
    t150 = (
        t148*where(less_equal(t149, 1), alpha_1, alpha_2 + x92*(t149 - 2)) + maximum(t32*x93, t33*x94)
    )  # expected_level
    t17 = x42  # stage_rank_params
    t34 = where(x67, b_w*x42, where(x70, b_w*x40 + b_w*x41, b_w*x73))  # stage_state
    t36 = where(x67, t0*x42, where(x70, t0*x40*x71 + t0*x75, t0*x73))  # stage_state
    t35 = (
        where(x67, b_grad*x42, where(x68, b_grad*x41 + x74, where(x69, b_grad*x75 + x71*x74, b_grad*x73)))
    )  # stage_state
    t151 = b_grad*x97  # dp_nvlink
    t155 = b_w*x97  # dp_nvlink
    t152 = b_grad*x98  # dp_network
    t156 = b_w*x98  # dp_network
    t147 = (
        t145*where(less_equal(t146, 1), alpha_1, alpha_2 + x92*(t146 - 2)) + maximum(t30*x93, t31*x94)
    )  # expected_level
    x100 = t17*x99
    t46 = (
        t17*x88*where(x68, 0, where(x69, b_grad, b_grad + 2*b_w)) + where(x32, 0, where(x35, t39, t39 - t40))
    )  # working_memory
    t47 = V_fix + b_bucket*t17*minimum(1, x89)  # framework_memory
    t161 = (
        x62*(x101*(3*t14 + x103 - 3*x104) + x104*(g_attn + 1)/t137) + x99*(b_acc*t17 + b_loss*n_vocab*x62 + g_ker*(t24 +
        t25))
    )  # microbatch_gpu_time
    t171 = where(x69, maximum(1, b_w*t17/V_bucket), t13)  # dp_buckets
    t37 = t34 + t35 + t36  # replicated_state
    t154 = maximum(t151*x93, t152*x94)  # expected_level
    t158 = maximum(t155*x93, t156*x94)  # expected_level
    t159 = t24*x99 + maximum(b_w*x100, t14*x102)  # stage_forward
    t160 = t25*x99 + maximum(x100*(2*b_grad + b_w), x102*(2*t14 + x103))  # stage_backward
    t173 = b_upd*x100*where(x67, 1, x71) + t_fix  # update_time
    t164 = (
        t_far*t13*maximum(0, -G + Y)*where(x37, 1, x91) + maximum(t163, g_cp*t147 + g_ep*t150 + g_tp*t144 + t161 + t162)
    )  # expected_microbatch
    t50 = t37 + t46 + t47 + maximum(t43, t45)  # gpu_memory
    x107 = 2*t154
    x111 = t158 - t159
    x106 = -t160
    x109 = -t160*x108
    t167 = t164*x25*x27  # interleaved_bubble
    t169 = where(x67, x107, where(x68, t154 + t158, where(x69, t154*t9 + t158, t9*(t154 + 2*t158))))  # dp_exchange
    x112 = maximum(maximum(0, x111*x25), t158 - t159*x108)
    x110 = t154 + x106
    t165 = (
        where(x67, maximum(maximum(0, x107 + x109), x25*(x106 + x107)), where(x68, x112 + maximum(maximum(0, x110*x25),
        t154 + x109), where(x69, t9*maximum(0, x110) + x112, t9*(maximum(0, x111) + maximum(0, t158 + x110)))))
    )  # exposed_dp
    t172 = (
        alpha_dp*t170*t171*x89 + minimum(t169, g_dp*(-t165 + t169)*minimum(1, n_zero + x27) + n_edge*t169*x88 + t165)
    )  # expected_dp
    t174 = t164*t9 + t167 + t168 + t172 + t173  # expected_step
    return [t50, t37, t174]


def columns(C, b, b_w, W_hbm, W_nvl, B, D, F, eta, L, P, P_act, S, n_seq, n_q, n_kv, d_head, n_mat, n_vocab, N_gpu,
            F_dense, L_dense, n_shared, n_emb, n_pos, n_bias, ops_tok, ops_attn, b_kept, b_mask, b_logit, b_grad,
            b_master, b_mom, P_exp, G, W_node, X, Y, Z, k, f_hit, alpha_1, alpha_2, alpha_rank, n_cp, V_bucket,
            N_stages, n_virt, n_zero, n_recompute, n_even, n_sp, n_drop, f_node, g_tp, g_cp, g_ep, n_copy, n_wide,
            n_gather, b_bucket, V_fix, eta_1, eta_2, eta_hbm, g_attn, g_ker, b_loss, b_acc, b_upd, t_host, t_cross,
            t_head, t_far, t_fix, alpha_dp, g_dp, gamma_net, g_grp, n_edge, eta_mat, eta_nvl, eta_net, eta_attn):
    """All columns."""
    t2 = maximum(Y, n_kv)  # whole_key_heads
    x2 = L**(-1.0)
    x3 = F_dense*L_dense
    x4 = L - L_dense
    x5 = F*(k + n_shared)
    x8 = 4*b
    x9 = S*n_drop*n_q
    x12 = D*b
    x13 = 2*b
    x15 = D*n_vocab
    x17 = X**(-1.0)
    x18 = n_cp**(-1.0)
    x24 = N_stages**(-1.0)
    x25 = n_virt**(-1.0)
    x27 = N_stages - 1
    x30 = less(n_even, 1)
    x32 = less(n_recompute, 1)
    x33 = L*ops_attn
    x34 = less(n_recompute, 2)
    x35 = less(n_recompute, 3)
    x37 = less(N_stages, 2)
    x38 = Y**(-1.0)
    x43 = D*k
    x44 = n_mat - 1
    x45 = 2*b_mask
    x49 = less(n_sp, 1)
    x56 = minimum(G, Y)
    x58 = Y*n_cp
    x60 = maximum(G, Y)
    x61 = minimum(G, Z)
    t1 = minimum(b, b_w)  # dispatch_bytes
    x65 = G**(-1.0)
    x67 = less(n_zero, 1)
    x68 = less(n_zero, 2)
    x69 = less(n_zero, 3)
    x76 = less(n_virt, 2)
    x80 = 4*D
    x83 = less(n_drop, 1)
    x90 = X*n_cp - 1
    x98 = W_hbm**(-1.0)
    x101 = C**(-1.0)
    x105 = 2*b_grad + b_w
    x109 = W_node**(-1.0)
    x110 = W_nvl**(-1.0)
    x123 = greater_equal(G, N_gpu)
    x126 = 2*N_stages*n_virt - 2
    x127 = 3*B
    x129 = N_gpu**(-1.0)
    t100 = W_hbm*eta_hbm  # reached_bandwidth
    t97 = C*eta  # reached_flops
    t98 = W_nvl*eta_1  # reached_bandwidth
    t99 = W_node*eta_2  # reached_bandwidth
    x151 = W_node*eta_net
    x153 = G*alpha_rank
    t138 = W_nvl*eta_nvl  # reached_bandwidth
    t136 = C*eta_mat  # reached_flops
    t137 = C*eta_attn  # reached_flops
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t175 = 6*B*P_act  # model_flops
    x0 = d_head*(n_q + t2)
    x1 = 2*t2
    x16 = 2*d_head*(-n_kv + t2)
    x53 = L_dense*x2 + 1
    x6 = x2*(x3 + x4*x5)
    x48 = D*x8
    x10 = x9*(b_mask + x8)
    x84 = F*x13
    x22 = 2*x15
    t9 = B*x17/(S*n_seq)  # microbatches
    x19 = n_seq*x18
    x71 = x17*x18
    x26 = x24*x25
    x118 = x25*(N_stages*(n_virt - 1) + 1)
    x124 = x25*x27
    x54 = where(x34, 0, where(x35, 1, 0))
    t18 = x2*(n_mat*x3 + x4*(n_mat*x5 + 2*x43))  # mean_kept_mlp
    t19 = x2*(x3*x44 + x4*(x43 + x44*x5))  # mean_few_mlp
    x46 = n_drop*x45
    x47 = x45 + x8
    x50 = where(x49, 1, x38)
    x93 = X*x58
    x66 = maximum(1, Z*x65)
    x152 = Y*x65
    t140 = maximum(1, N_gpu*x65)  # run_nodes
    t146 = maximum(1, x58*x65)  # spanned_nodes
    x70 = logical_or.reduce((x68,x69))
    x128 = x127*(2*P_act + x33)
    x131 = ops_tok*x127
    x130 = x101*x129
    x132 = t100**(-1.0)
    x136 = t97**(-1.0)
    x142 = t98**(-1.0)
    x143 = t99**(-1.0)
    t139 = x151  # reached_bandwidth
    x154 = t138**(-1.0)
    x156 = t136**(-1.0)
    x163 = (g_attn + 1)/t137
    x14 = x12*x2*x4*(3*k + n_shared + 1) + where(less(n_pos, 1), x0*x13, 0)
    t3 = 2*x0  # kept_attention
    t4 = d_head*(n_q + x1)  # few_attention
    t8 = D*x16 + x2*(P_act - x15)  # mean_layer_matrices
    x7 = b*x6
    t20 = D*n_copy + n_wide*x6  # framework_elements
    t23 = x48  # norms_forward
    x77 = n_virt*t9
    x125 = 2*x27 + 2*ceil(x24*x27*(t9 - 2))
    t57 = b_grad*where(x67, 2, where(x68, 1, t9)) + b_w*where(x67, 0, where(x69, 1, 2*t9))  # dp_passes
    t170 = where(x68, 1, where(x69, t9, 3*t9))  # dp_rounds
    x20 = S*x19
    x86 = S**2*n_q*x19*(b_mask + x13)
    x72 = x38*x71
    x28 = n_virt*ceil(L*x26)
    x55 = 2*x54 + 4
    t21 = D*(10*b + x46)  # between_forward
    t22 = D*(12*b + n_drop*x47)  # between_backward
    x88 = D*x50
    x94 = minimum(G, x93)
    t149 = x66  # spanned_nodes
    t143 = maximum(1, x152)  # spanned_nodes
    t141 = x151*maximum(1, (1/2)*t140)**(-gamma_net)  # many_nodes
    t83 = x128  # model_flops
    t122 = x128  # model_flops
    t95 = x131  # counted_flops
    t134 = x131  # counted_flops
    t197 = x131  # counted_flops
    t176 = t175*x129*x156  # mfu_step_time
    x81 = t18 + t3
    x21 = ops_attn + 2*t8
    x11 = n_mat*x7 + x10
    t6 = x14 + x7*(2*n_mat - 1) + x9*(5*b + b_mask)  # inside_backward
    t38 = where(x76, minimum(N_stages, t9), minimum(x77, N_stages*(n_virt + 1) - 1))  # first_stage_held
    x78 = b*x20
    x85 = x20*(D*x47 + x38*(x48 + x84))
    x87 = x20*(D*(8*b + x45) + x84)
    t10 = x20  # microbatch_tokens
    x155 = t141**(-1.0)
    t84 = t83*x130  # mfu_step_time
    t123 = t122*x129*x136  # mfu_step_time
    x23 = x22/x21
    x31 = L*x21
    t5 = x11 + x14  # inside_forward
    t7 = x11  # inside_recompute
    x79 = x78*(D*n_gather*n_sp*(1 - x38) + t20*x38)
    x82 = where(x49, x78*(x38*x81 + x80), x38*x78*(x80 + x81))
    x62 = t10*x38
    t44 = t10*(D*x13 + b_logit*n_vocab)  # head_activations
    t11 = ceil(x23)  # head_layers
    t15 = where(x32, 0, where(x34, x33, where(x35, x31, x33)))  # recomputed_flops
    x51 = t21*x50 + t5*x38
    t39 = x79 + where(x83, x82, where(x49, x38*x86 + x85, x38*(x86 + x87)))  # whole_layer
    t40 = x79 + where(x83, x82, where(x49, x85, x38*x87))  # coreless_layer
    x97 = x12*x62
    x102 = x101*x62
    x137 = x136*x62
    x157 = x156*x62
    x160 = b_loss*n_vocab*x62
    t12 = n_virt*minimum(ceil(x26*(L + t11)), ceil(L*x25/maximum(1, x27)))  # stage_room
    t41 = (
        where(x32, t39, where(x34, x20*(b_kept*x38*(t19 + t4) + x88*(x13 + x46)), where(x35, x78*x88, t40)))
    )  # layer_kept
    t60 = x97  # sharded_hop_bytes
    t76 = where(x37, 0, where(x123, x110*x97, x97/minimum(W_nvl, W_node*x65)))  # stage_hop
    t115 = where(x37, 0, where(x123, x142*x97, x97/minimum(t98, t99*x65)))  # stage_hop
    t166 = (
        where(x37, 0, where(x123, alpha_1, alpha_2)) + where(x37, 0, where(x123, x154*x97, x97/minimum(t138, t139*x65)))
    )  # expected_hop
    t185 = x132*x160  # microbatch_gpu_time
    x29 = t12 - x28
    t61 = where(x37, 0, 2*t60*x77)  # pipeline_bytes
    t78 = where(x76, t76*x125, t76*x126)  # pipeline_exposed
    t117 = where(x76, t115*x125, t115*x126)  # pipeline_exposed
    t168 = where(x76, t166*x125, t166*x126)  # pipeline_exposed
    t186 = t185*t9  # expected_step
    t13 = where(x30, t12 - x29*(2 - minimum(2, ceil(x23/maximum(1, x29)))), x28)  # stage_layers
    x36 = t13*x2
    x52 = t10*t13
    x57 = t13*(x54 + 3)
    x89 = t13**(-1.0)
    x161 = ops_attn*t13
    x164 = t_far*t13*maximum(0, -G + Y)*where(x37, 1, x152)
    t14 = maximum(maximum(x22, x24*(x22 + x31)), t13*x21 + x22*where(x30, minimum(1, t12 - t13), 1))  # stage_flops
    t42 = t13*t38*x25  # flying_layers
    t45 = t13*t41 + t44*x38  # last_stage_activations
    t142 = where(less(Y, 2), 0, t13*x53*(3*n_sp + x54*(n_sp + 1) + 2))  # tp_calls
    t163 = t_head + t13*(Y*t_cross*minimum(1, x27)*where(x123, 0, 1) + t_host)  # microbatch_host_time
    x39 = P_exp*x36
    x63 = x36*x4
    x106 = t15*x36
    t16 = t13*x16*(D + n_bias) + x15*where(x37, n_emb, 1) + x36*(P - n_emb*x15)  # stage_params
    t24 = x51*x52  # kernels_forward
    t25 = (
        x52*(t22*x50 + t6*x38 + where(x32, 0, where(x34, t23*x50 + t7*x38, where(x35, x51, x10*x38))))
    )  # kernels_backward
    t26 = x12*x52*x53*(n_sp + x55)  # tp_bytes
    t179 = ops_attn*x163*x38*x52  # microbatch_gpu_time
    t29 = S*b*d_head*n_seq*x1*x57  # cp_bytes
    t145 = where(less(n_cp, 2), 0, x57)  # cp_calls
    t43 = t41*t42  # flying_activations
    x41 = x39/Z
    x75 = x39*x72
    x64 = D*Z*x62*x63*(b + t1)*(x54 + 2)
    t148 = where(less(Z, 2), 0, x55*x63)  # ep_calls
    t162 = 6*F*n_mat*x157*x43*x63*(g_grp - 1)  # grouped_time
    x107 = 2*t14 + x106
    x162 = x156*(3*t14 + x106 - 3*x161)
    x40 = x38*(t16 - x39)
    x73 = t16*x72
    x99 = t24*x98
    x133 = t24*x132
    x104 = t25*x98
    x139 = t25*x132
    x159 = g_ker*(t24 + t25)
    t27 = t26*(1 - 1/maximum(1, x56))  # group_nvlink
    t28 = t26*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t180 = t179*t9  # expected_step
    x59 = t29*x38
    x91 = maximum(t43, t45)
    t32 = f_hit*x64*(x61 - 1)/x61  # exchange_nvlink
    t33 = f_node*x64*(x66 - 1)/x66  # exchange_network
    t181 = maximum(0, t162)  # expected_microbatch
    t177 = x162*x62  # microbatch_gpu_time
    x42 = x40 + x41
    x74 = b_grad*x40
    x95 = x40*(-Y/maximum(Y, x94) + 1) + x41*(-Z/maximum(Z, x94) + 1)
    x96 = x40*x56*(-x60/maximum(maximum(G, Y), x93) + 1) + x41*x61*(-maximum(G, Z)/maximum(maximum(G, Z), x93) + 1)
    t81 = x99  # stage_forward
    t120 = x133  # stage_forward
    t82 = x104  # stage_backward
    t121 = x139  # stage_backward
    t183 = x132*x159  # microbatch_gpu_time
    t51 = t27*t9  # step_bytes
    t52 = t28*t9  # step_bytes
    t64 = maximum(t27*x110, t28*x109)  # level_time
    t103 = maximum(t27*x142, t28*x143)  # level_time
    t144 = (
        t142*where(less_equal(t143, 1), alpha_1, alpha_2 + x153*(t143 - 2)) + maximum(t27*x154, t28*x155)
    )  # expected_level
    t30 = x59*(-Y/maximum(Y, minimum(G, x58)) + 1)  # group_nvlink
    t31 = x56*x59*(-x60/maximum(maximum(G, Y), x58) + 1)  # group_network
    t48 = x91  # gpu_memory
    t55 = t32*t9  # step_bytes
    t56 = t33*t9  # step_bytes
    t66 = maximum(t32*x110, t33*x109)  # level_time
    t105 = maximum(t32*x142, t33*x143)  # level_time
    t150 = (
        t148*where(less_equal(t149, 1), alpha_1, alpha_2 + x153*(t149 - 2)) + maximum(t32*x154, t33*x155)
    )  # expected_level
    t182 = t181*t9  # expected_step
    t178 = t177*t9  # expected_step
    t17 = x42  # stage_rank_params
    t34 = where(x67, b_w*x42, where(x70, b_w*x40 + b_w*x41, b_w*x73))  # stage_state
    t36 = where(x67, t0*x42, where(x70, t0*x40*x71 + t0*x75, t0*x73))  # stage_state
    t35 = (
        where(x67, b_grad*x42, where(x68, b_grad*x41 + x74, where(x69, b_grad*x75 + x71*x74, b_grad*x73)))
    )  # stage_state
    x111 = b_grad*x95
    x113 = b_w*x95
    t58 = t57*x95  # dp_nvlink
    x112 = b_grad*x96
    x114 = b_w*x96
    t59 = t57*x96  # dp_network
    t87 = t81 + t82  # microbatch_time
    t126 = t120 + t121  # microbatch_time
    t184 = t183*t9  # expected_step
    x115 = g_tp*t64
    x144 = g_tp*t103
    x165 = g_tp*t144
    t53 = t30*t9  # step_bytes
    t54 = t31*t9  # step_bytes
    t65 = maximum(t30*x110, t31*x109)  # level_time
    t104 = maximum(t30*x142, t31*x143)  # level_time
    t147 = (
        t145*where(less_equal(t146, 1), alpha_1, alpha_2 + x153*(t146 - 2)) + maximum(t30*x154, t31*x155)
    )  # expected_level
    x117 = g_ep*t66
    x146 = g_ep*t105
    x167 = g_ep*t150
    x100 = t17*x98
    x134 = t17*x132
    x158 = b_acc*t17
    t46 = (
        t17*x89*where(x68, 0, where(x69, b_grad, b_grad + 2*b_w)) + where(x32, 0, where(x35, t39, t39 - t40))
    )  # working_memory
    t47 = V_fix + b_bucket*t17*minimum(1, x90)  # framework_memory
    t171 = where(x69, maximum(1, b_w*t17/V_bucket), t13)  # dp_buckets
    t37 = t34 + t35 + t36  # replicated_state
    t67 = x111  # dp_nvlink
    t106 = x111  # dp_nvlink
    t151 = x111  # dp_nvlink
    t70 = x113  # dp_nvlink
    t109 = x113  # dp_nvlink
    t155 = x113  # dp_nvlink
    t68 = x112  # dp_network
    t107 = x112  # dp_network
    t152 = x112  # dp_network
    t71 = x114  # dp_network
    t110 = x114  # dp_network
    t156 = x114  # dp_network
    t88 = t87*t9  # step_sum
    t127 = t126*t9  # step_sum
    t89 = x115  # microbatch_time
    t128 = x144  # microbatch_time
    t189 = x164 + maximum(0, x165)  # expected_microbatch
    x116 = g_cp*t65
    x145 = g_cp*t104
    x166 = g_cp*t147
    t93 = x117  # microbatch_time
    t132 = x146  # microbatch_time
    t193 = maximum(0, x167)  # expected_microbatch
    x103 = maximum(b_w*x100, t14*x102)
    x108 = maximum(x100*x105, x102*x107)
    x135 = b_w*x134
    x140 = x105*x134
    t173 = b_upd*x134*where(x67, 1, x71) + t_fix  # update_time
    t161 = x132*(x158 + x159 + x160) + x62*(x161*x163 + x162)  # microbatch_gpu_time
    t187 = x132*x158  # microbatch_gpu_time
    x92 = t46 + t47
    t69 = maximum(t67*x110, t68*x109)  # level_time
    t108 = maximum(t106*x142, t107*x143)  # level_time
    t154 = maximum(t151*x154, t152*x155)  # expected_level
    t72 = maximum(t70*x110, t71*x109)  # level_time
    t111 = maximum(t109*x142, t110*x143)  # level_time
    t158 = maximum(t155*x154, t156*x155)  # expected_level
    t90 = t89*t9  # step_sum
    t129 = t128*t9  # step_sum
    t190 = t189*t9  # expected_step
    t91 = x116  # microbatch_time
    t130 = x145  # microbatch_time
    t191 = maximum(0, x166)  # expected_microbatch
    t94 = t9*t93  # step_sum
    t133 = t132*t9  # step_sum
    t194 = t193*t9  # expected_step
    t62 = x103 + x99  # stage_forward
    t74 = x103  # stage_forward
    t63 = x104 + x108  # stage_backward
    t80 = x108  # stage_backward
    x138 = maximum(x135, t14*x137)
    t159 = x133 + maximum(x135, t14*x157)  # stage_forward
    x141 = maximum(x140, x107*x137)
    t160 = x139 + maximum(x140, x107*x157)  # stage_backward
    x168 = t161 + t162 + x165 + x166 + x167
    t188 = t187*t9  # expected_step
    t49 = x92  # gpu_memory
    t50 = t37 + x91 + x92  # gpu_memory
    x170 = 2*t154
    t92 = t9*t91  # step_sum
    t131 = t130*t9  # step_sum
    t192 = t191*t9  # expected_step
    x121 = -t62 + t72
    x119 = -t63*x118
    x120 = -t63 + t69
    t73 = t62 + t63 + x115 + x116 + x117  # microbatch_time
    t85 = t74 + t80  # microbatch_time
    t101 = x133 + x138  # stage_forward
    t113 = x138  # stage_forward
    x173 = t158 - t159
    t102 = x139 + x141  # stage_backward
    t119 = x141  # stage_backward
    x169 = -t160
    x171 = -t160*x118
    t164 = x164 + maximum(t163, x168)  # expected_microbatch
    t195 = maximum(0, t163 - x168)  # host_wait
    t169 = where(x67, x170, where(x68, t154 + t158, where(x69, t154*t9 + t158, t9*(t154 + 2*t158))))  # dp_exchange
    x122 = maximum(maximum(0, x121*x25), -t62*x118 + t72)
    t77 = t73*x124  # interleaved_bubble
    t86 = t85*t9  # step_sum
    x149 = -t101 + t111
    x174 = maximum(maximum(0, x173*x25), t158 - t159*x118)
    x147 = -t102*x118
    x148 = -t102 + t108
    t112 = t101 + t102 + x144 + x145 + x146  # microbatch_time
    t124 = t113 + t119  # microbatch_time
    x172 = t154 + x169
    t167 = t164*x124  # interleaved_bubble
    t196 = t195*t9  # expected_step
    t75 = (
        where(x67, maximum(maximum(0, 2*t69 + x119), x25*(-t63 + 2*t69)), where(x68, x122 + maximum(maximum(0,
        x120*x25), t69 + x119), where(x69, t9*maximum(0, x120) + x122, t9*(maximum(0, x121) + maximum(0, -t63 + t69 +
        t72)))))
    )  # exposed_dp
    x150 = maximum(maximum(0, x149*x25), -t101*x118 + t111)
    t116 = t112*x124  # interleaved_bubble
    t125 = t124*t9  # step_sum
    t165 = (
        where(x67, maximum(maximum(0, x170 + x171), x25*(x169 + x170)), where(x68, x174 + maximum(maximum(0, x172*x25),
        t154 + x171), where(x69, t9*maximum(0, x172) + x174, t9*(maximum(0, x173) + maximum(0, t158 + x172)))))
    )  # exposed_dp
    t79 = t73*t9 + t75 + t77 + t78  # step_sum
    t114 = (
        where(x67, maximum(maximum(0, 2*t108 + x147), x25*(-t102 + 2*t108)), where(x68, x150 + maximum(maximum(0,
        x148*x25), t108 + x147), where(x69, t9*maximum(0, x148) + x150, t9*(maximum(0, x149) + maximum(0, -t102 + t108 +
        t111)))))
    )  # exposed_dp
    t172 = (
        alpha_dp*t170*t171*x90 + minimum(t169, g_dp*(-t165 + t169)*minimum(1, n_zero + x27) + n_edge*t169*x89 + t165)
    )  # expected_dp
    t96 = t95*x130/t79  # mfu
    t118 = t112*t9 + t114 + t116 + t117  # step_sum
    t174 = t164*t9 + t167 + t168 + t172 + t173  # expected_step
    t135 = t134*x130/t118  # mfu
    t198 = t197*x130/t174  # mfu
    return [
        t9, t13, t34, t35, t36, t37, t48, t49, t50, t51, t52, t53, t54, t55, t56, t58, t59, t61, t84, t86, t88, t90,
        t92, t94, t75, t78, t77, t79, t96, t123, t125, t127, t129, t131, t133, t114, t117, t116, t118, t135, t176, t178,
        t180, t182, t184, t186, t188, t190, t192, t194, t196, t167, t168, t172, t173, t174, t198,
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
