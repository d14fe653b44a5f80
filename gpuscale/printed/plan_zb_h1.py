"""Plans with the schedule zb-h1 and attention; behind a line, the formula of gpuscale.llm that it ends.

Printed by ``make printed``; do not edit.
"""

from numpy import ceil, greater_equal, less, less_equal, logical_or, maximum, minimum, where


def search(C, b, b_w, W_hbm, W_nvl, B, D, F, L, P, P_act, S, n_seq, n_q, n_kv, d_head, n_mat, n_vocab, N_gpu, F_dense,
           L_dense, n_shared, n_emb, n_pos, n_bias, ops_attn, b_kept, b_mask, b_logit, b_grad, b_master, b_mom, P_exp,
           G, W_node, X, Y, Z, k, f_hit, alpha_1, alpha_2, alpha_rank, n_cp, V_bucket, N_stages, n_virt, n_zero,
           n_recompute, n_even, n_sp, n_drop, f_node, g_tp, g_cp, g_ep, n_copy, n_wide, n_ahead, p_calm, b_bucket,
           V_fix, eta_hbm, g_attn, g_ker, b_loss, b_acc, b_upd, t_host, t_cross, t_head, t_far, t_fix, alpha_dp, g_dp,
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
    x80 = 4*D
    x83 = less(n_drop, 1)
    x91 = X*n_cp - 1
    x92 = W_node*eta_net
    x94 = G*alpha_rank
    t144 = W_nvl*eta_nvl  # reached_bandwidth
    t104 = W_hbm*eta_hbm  # reached_bandwidth
    t142 = C*eta_mat  # reached_flops
    x108 = greater_equal(G, N_gpu)
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t143 = C*eta_attn  # reached_flops
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
    x112 = x25*(N_stages*(n_virt - 1) + 1)
    x54 = where(x34, 0, where(x35, 1, 0))
    t18 = x2*(n_mat*x3 + x4*(n_mat*x5 + 2*x43))  # mean_kept_mlp
    t19 = x2*(x3*x44 + x4*(x43 + x44*x5))  # mean_few_mlp
    x46 = n_drop*x45
    x47 = x45 + x8
    x50 = where(x49, 1, x38)
    x97 = X*x58
    x66 = maximum(1, Z*x65)
    x89 = maximum(1, N_gpu*x65)
    x93 = Y*x65
    t152 = maximum(1, x58*x65)  # spanned_nodes
    x70 = logical_or.reduce((x68,x69))
    t145 = x92  # reached_bandwidth
    x95 = t144**(-1.0)
    x101 = t104**(-1.0)
    x103 = t142**(-1.0)
    x14 = x12*x2*x4*(3*k + n_shared + 1) + where(less(n_pos, 1), x0*x13, 0)
    t3 = 2*x0  # kept_attention
    t4 = d_head*(n_q + x1)  # few_attention
    t8 = D*x16 + x2*(P_act - x15)  # mean_layer_matrices
    x7 = b*x6
    t20 = D*n_copy + n_wide*x6  # framework_elements
    t23 = x48  # norms_forward
    x76 = minimum(N_stages, t9)
    t179 = where(x68, 1, where(x69, t9, 3*t9))  # dp_rounds
    x20 = S*x19
    x86 = S**2*n_q*x19*(b_mask + x13)
    x72 = x38*x71
    x28 = n_virt*ceil(L*x26)
    x55 = 2*x54 + 4
    t21 = D*(10*b + x46)  # between_forward
    t22 = D*(12*b + n_drop*x47)  # between_backward
    x88 = D*x50
    x98 = minimum(G, x97)
    t155 = x66  # spanned_nodes
    t45 = x89  # run_nodes
    t146 = x89  # run_nodes
    t149 = maximum(1, x93)  # spanned_nodes
    x81 = t18 + t3
    x21 = ops_attn + 2*t8
    x11 = n_mat*x7 + x10
    t6 = x14 + x7*(2*n_mat - 1) + x9*(5*b + b_mask)  # inside_backward
    t38 = x76  # zb_held
    x77 = b*x20
    x85 = x20*(D*x47 + x38*(x48 + x84))
    x87 = x20*(D*(8*b + x45) + x84)
    t10 = x20  # microbatch_tokens
    t147 = x92*maximum(1, (1/2)*t146)**(-gamma_net)  # many_nodes
    x23 = x22/x21
    x31 = L*x21
    t5 = x11 + x14  # inside_forward
    t7 = x11  # inside_recompute
    x78 = x38*x77
    x62 = t10*x38
    t44 = t10*(D*x13 + b_logit*n_vocab)  # head_activations
    t46 = n_ahead*n_sp*t10*x12*(1 - x38)*where(x37, 1, where(less(N_stages, 3), 0, p_calm**t45))  # unfreed_arrays
    x96 = t147**(-1.0)
    t11 = ceil(x23)  # head_layers
    t15 = where(x32, 0, where(x34, x33, where(x35, x31, x33)))  # recomputed_flops
    x51 = t21*x50 + t5*x38
    x79 = t20*x78
    x82 = where(x49, x77*(x38*x81 + x80), x78*(x80 + x81))
    x104 = x103*x62
    x117 = x12*x62
    t12 = n_virt*minimum(ceil(x26*(L + t11)), ceil(L*x25/maximum(1, x27)))  # stage_room
    t39 = x79 + where(x83, x82, where(x49, x38*x86 + x85, x38*(x86 + x87)))  # whole_layer
    t40 = x79 + where(x83, x82, where(x49, x85, x38*x87))  # coreless_layer
    t175 = (
        where(x37, 0, where(x108, alpha_1, alpha_2)) + where(x37, 0, where(x108, x117*x95, x117/minimum(t144,
        t145*x65)))
    )  # expected_hop
    x29 = t12 - x28
    t41 = (
        where(x32, t39, where(x34, x20*(b_kept*x38*(t19 + t4) + x88*(x13 + x46)), where(x35, x77*x88, t40)))
    )  # layer_kept
    t177 = (
        where(less(n_virt, 2), 2*t175*(x27 + ceil(x24*x27*(t9 - 2))), t175*(2*N_stages*n_virt - 2))
    )  # pipeline_exposed
    t13 = where(x30, t12 - x29*(2 - minimum(2, ceil(x23/maximum(1, x29)))), x28)  # stage_layers
    x36 = t13*x2
    x52 = t10*t13
    x57 = t13*(x54 + 3)
    x90 = t13**(-1.0)
    x107 = ops_attn*t13
    t14 = maximum(maximum(x22, x24*(x22 + x31)), t13*x21 + x22*where(x30, minimum(1, t12 - t13), 1))  # stage_flops
    t42 = t13*t38*x25  # flying_layers
    t47 = t13*t41 + t44*x38  # last_stage_activations
    t148 = where(less(Y, 2), 0, t13*x53*(3*n_sp + x54*(n_sp + 1) + 2))  # tp_calls
    t169 = t_head + t13*(Y*t_cross*minimum(1, x27)*where(x108, 0, 1) + t_host)  # microbatch_host_time
    x39 = P_exp*x36
    x63 = x36*x4
    x106 = t15*x36
    t16 = t13*x16*(D + n_bias) + x15*where(x37, n_emb, 1) + x36*(P - n_emb*x15)  # stage_params
    t24 = x51*x52  # kernels_forward
    t25 = (
        x52*(t22*x50 + t6*x38 + where(x32, 0, where(x34, t23*x50 + t7*x38, where(x35, x51, x10*x38))))
    )  # kernels_backward
    t26 = x12*x52*x53*(n_sp + x55)  # tp_bytes
    t29 = S*b*d_head*n_seq*x1*x57  # cp_bytes
    t151 = where(less(n_cp, 2), 0, x57)  # cp_calls
    t43 = t41*t42  # flying_activations
    x41 = x39/Z
    x75 = x39*x72
    x64 = D*Z*x62*x63*(b + t1)*(x54 + 2)
    t154 = where(less(Z, 2), 0, x55*x63)  # ep_calls
    t168 = 6*F*n_mat*x104*x43*x63*(g_grp - 1)  # grouped_time
    x40 = x38*(t16 - x39)
    x73 = t16*x72
    t27 = t26*(1 - 1/maximum(1, x56))  # group_nvlink
    t28 = t26*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x59 = t29*x38
    t32 = f_hit*x64*(x61 - 1)/x61  # exchange_nvlink
    t33 = f_node*x64*(x66 - 1)/x66  # exchange_network
    x42 = x40 + x41
    x74 = b_grad*x40
    x99 = x40*(-Y/maximum(Y, x98) + 1) + x41*(-Z/maximum(Z, x98) + 1)
    x100 = x40*x56*(-x60/maximum(maximum(G, Y), x97) + 1) + x41*x61*(-maximum(G, Z)/maximum(maximum(G, Z), x97) + 1)
    t150 = (
        t148*where(less_equal(t149, 1), alpha_1, alpha_2 + x94*(t149 - 2)) + maximum(t27*x95, t28*x96)
    )  # expected_level
    t30 = x59*(-Y/maximum(Y, minimum(G, x58)) + 1)  # group_nvlink
    t31 = x56*x59*(-x60/maximum(maximum(G, Y), x58) + 1)  # group_network
    t156 = (
        t154*where(less_equal(t155, 1), alpha_1, alpha_2 + x94*(t155 - 2)) + maximum(t32*x95, t33*x96)
    )  # expected_level
    t17 = x42  # stage_rank_params
    t34 = where(x67, b_w*x42, where(x70, b_w*x40 + b_w*x41, b_w*x73))  # stage_state
    t36 = where(x67, t0*x42, where(x70, t0*x40*x71 + t0*x75, t0*x73))  # stage_state
    t35 = (
        where(x67, b_grad*x42, where(x68, b_grad*x41 + x74, where(x69, b_grad*x75 + x71*x74, b_grad*x73)))
    )  # stage_state
    t157 = b_grad*x99  # dp_nvlink
    t161 = b_w*x99  # dp_nvlink
    t158 = b_grad*x100  # dp_network
    t162 = b_w*x100  # dp_network
    t153 = (
        t151*where(less_equal(t152, 1), alpha_1, alpha_2 + x94*(t152 - 2)) + maximum(t30*x95, t31*x96)
    )  # expected_level
    x102 = t17*x101
    t48 = (
        t17*x90*where(x68, 0, where(x69, b_grad, b_grad + 2*b_w)) + where(x32, 0, where(x35, t39, t39 - t40))
    )  # working_memory
    t49 = V_fix + b_bucket*t17*minimum(1, x91) + t46  # framework_memory
    t167 = (
        x101*(b_acc*t17 + b_loss*n_vocab*x62 + g_ker*(t24 + t25)) + x62*(x103*(3*t14 + x106 - 3*x107) + x107*(g_attn +
        1)/t143)
    )  # microbatch_gpu_time
    t180 = where(x69, maximum(1, b_w*t17/V_bucket), t13)  # dp_buckets
    t37 = t34 + t35 + t36  # replicated_state
    t160 = maximum(t157*x95, t158*x96)  # expected_level
    t164 = maximum(t161*x95, t162*x96)  # expected_level
    x105 = maximum(b_w*x102, t14*x104)
    t166 = t25*x101 + maximum(x102*(2*b_grad + b_w), x104*(2*t14 + x106))  # stage_backward
    t182 = b_upd*x102*where(x67, 1, x71) + t_fix  # update_time
    t170 = (
        t_far*t13*maximum(0, -G + Y)*where(x37, 1, x93) + maximum(t169, g_cp*t153 + g_ep*t156 + g_tp*t150 + t167 + t168)
    )  # expected_microbatch
    t52 = t37 + t48 + t49 + maximum(t43, t47)  # gpu_memory
    x111 = 2*t160
    t165 = t24*x101 + x105  # stage_forward
    t173 = x105  # stage_forward
    x110 = -t166
    x113 = -t166*x112
    t178 = where(x67, x111, where(x68, t160 + t164, where(x69, t160*t9 + t164, t9*(t160 + 2*t164))))  # dp_exchange
    x109 = t170/(t165 + t166)
    x115 = t164 - t165
    x114 = t160 + x110
    t171 = t165*x109  # forward_slot
    t172 = t166*x109  # backward_slot
    x116 = maximum(maximum(0, x115*x25), t164 - t165*x112)
    x118 = t172 - t173
    t174 = (
        where(x67, maximum(maximum(0, x111 + x113), x25*(x110 + x111)), where(x68, x116 + maximum(maximum(0, x114*x25),
        t160 + x113), where(x69, t9*maximum(0, x114) + x116, t9*(maximum(0, x115) + maximum(0, t164 + x114)))))
    )  # exposed_dp
    t176 = x27*(t171 + x118) - (x76 - 1)*minimum(minimum(t171, t173), x118)  # zb_bubble
    t181 = (
        alpha_dp*t179*t180*x91 + minimum(t178, g_dp*(-t174 + t178)*minimum(1, n_zero + x27) + n_edge*t178*x90 + t174)
    )  # expected_dp
    t183 = t170*t9 + t176 + t177 + t181 + t182  # expected_step
    return [t52, t37, t183]


def columns(C, b, b_w, W_hbm, W_nvl, B, D, F, eta, L, P, P_act, S, n_seq, n_q, n_kv, d_head, n_mat, n_vocab, N_gpu,
            F_dense, L_dense, n_shared, n_emb, n_pos, n_bias, ops_tok, ops_attn, b_kept, b_mask, b_logit, b_grad,
            b_master, b_mom, P_exp, G, W_node, X, Y, Z, k, f_hit, alpha_1, alpha_2, alpha_rank, n_cp, V_bucket,
            N_stages, n_virt, n_zero, n_recompute, n_even, n_sp, n_drop, f_node, g_tp, g_cp, g_ep, n_copy, n_wide,
            n_ahead, p_calm, b_bucket, V_fix, eta_1, eta_2, eta_hbm, g_attn, g_ker, b_loss, b_acc, b_upd, t_host,
            t_cross, t_head, t_far, t_fix, alpha_dp, g_dp, gamma_net, g_grp, n_edge, eta_mat, eta_nvl, eta_net,
            eta_attn):
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
    x80 = 4*D
    x83 = less(n_drop, 1)
    x91 = X*n_cp - 1
    x100 = W_hbm**(-1.0)
    x103 = C**(-1.0)
    x107 = 2*b_grad + b_w
    x111 = W_node**(-1.0)
    x112 = W_nvl**(-1.0)
    x127 = greater_equal(G, N_gpu)
    x130 = less(n_virt, 2)
    x131 = 2*N_stages*n_virt - 2
    x132 = 3*B
    x134 = N_gpu**(-1.0)
    t104 = W_hbm*eta_hbm  # reached_bandwidth
    t101 = C*eta  # reached_flops
    t102 = W_nvl*eta_1  # reached_bandwidth
    t103 = W_node*eta_2  # reached_bandwidth
    x158 = W_node*eta_net
    x160 = G*alpha_rank
    t144 = W_nvl*eta_nvl  # reached_bandwidth
    t142 = C*eta_mat  # reached_flops
    t143 = C*eta_attn  # reached_flops
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t184 = 6*B*P_act  # model_flops
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
    x122 = x25*(N_stages*(n_virt - 1) + 1)
    x54 = where(x34, 0, where(x35, 1, 0))
    t18 = x2*(n_mat*x3 + x4*(n_mat*x5 + 2*x43))  # mean_kept_mlp
    t19 = x2*(x3*x44 + x4*(x43 + x44*x5))  # mean_few_mlp
    x46 = n_drop*x45
    x47 = x45 + x8
    x50 = where(x49, 1, x38)
    x95 = X*x58
    x66 = maximum(1, Z*x65)
    x89 = maximum(1, N_gpu*x65)
    x159 = Y*x65
    t152 = maximum(1, x58*x65)  # spanned_nodes
    x70 = logical_or.reduce((x68,x69))
    x133 = x132*(2*P_act + x33)
    x136 = ops_tok*x132
    x135 = x103*x134
    x137 = t104**(-1.0)
    x141 = t101**(-1.0)
    x147 = t102**(-1.0)
    x148 = t103**(-1.0)
    t145 = x158  # reached_bandwidth
    x161 = t144**(-1.0)
    x163 = t142**(-1.0)
    x171 = (g_attn + 1)/t143
    x14 = x12*x2*x4*(3*k + n_shared + 1) + where(less(n_pos, 1), x0*x13, 0)
    t3 = 2*x0  # kept_attention
    t4 = d_head*(n_q + x1)  # few_attention
    t8 = D*x16 + x2*(P_act - x15)  # mean_layer_matrices
    x7 = b*x6
    t20 = D*n_copy + n_wide*x6  # framework_elements
    t23 = x48  # norms_forward
    x76 = minimum(N_stages, t9)
    x94 = 2*t9
    x129 = 2*x27 + 2*ceil(x24*x27*(t9 - 2))
    t179 = where(x68, 1, where(x69, t9, 3*t9))  # dp_rounds
    x20 = S*x19
    x86 = S**2*n_q*x19*(b_mask + x13)
    x72 = x38*x71
    x28 = n_virt*ceil(L*x26)
    x55 = 2*x54 + 4
    t21 = D*(10*b + x46)  # between_forward
    t22 = D*(12*b + n_drop*x47)  # between_backward
    x88 = D*x50
    x96 = minimum(G, x95)
    t155 = x66  # spanned_nodes
    t45 = x89  # run_nodes
    t146 = x89  # run_nodes
    t149 = maximum(1, x159)  # spanned_nodes
    t87 = x133  # model_flops
    t128 = x133  # model_flops
    t99 = x136  # counted_flops
    t140 = x136  # counted_flops
    t206 = x136  # counted_flops
    t185 = t184*x134*x163  # mfu_step_time
    x81 = t18 + t3
    x21 = ops_attn + 2*t8
    x11 = n_mat*x7 + x10
    t6 = x14 + x7*(2*n_mat - 1) + x9*(5*b + b_mask)  # inside_backward
    x128 = x76 - 1
    t38 = x76  # zb_held
    t59 = b_grad*where(x67, 2, where(x68, 1, t9)) + b_w*where(x67, 0, where(x69, 1, x94))  # dp_passes
    x77 = b*x20
    x85 = x20*(D*x47 + x38*(x48 + x84))
    x87 = x20*(D*(8*b + x45) + x84)
    t10 = x20  # microbatch_tokens
    t147 = x158*maximum(1, (1/2)*t146)**(-gamma_net)  # many_nodes
    t88 = t87*x135  # mfu_step_time
    t129 = t128*x134*x141  # mfu_step_time
    x23 = x22/x21
    x31 = L*x21
    t5 = x11 + x14  # inside_forward
    t7 = x11  # inside_recompute
    x78 = x38*x77
    x62 = t10*x38
    t44 = t10*(D*x13 + b_logit*n_vocab)  # head_activations
    t46 = n_ahead*n_sp*t10*x12*(1 - x38)*where(x37, 1, where(less(N_stages, 3), 0, p_calm**t45))  # unfreed_arrays
    x162 = t147**(-1.0)
    t11 = ceil(x23)  # head_layers
    t15 = where(x32, 0, where(x34, x33, where(x35, x31, x33)))  # recomputed_flops
    x51 = t21*x50 + t5*x38
    x79 = t20*x78
    x82 = where(x49, x77*(x38*x81 + x80), x78*(x80 + x81))
    x99 = x12*x62
    x104 = x103*x62
    x142 = x141*x62
    x164 = x163*x62
    x168 = b_loss*n_vocab*x62
    t12 = n_virt*minimum(ceil(x26*(L + t11)), ceil(L*x25/maximum(1, x27)))  # stage_room
    t39 = x79 + where(x83, x82, where(x49, x38*x86 + x85, x38*(x86 + x87)))  # whole_layer
    t40 = x79 + where(x83, x82, where(x49, x85, x38*x87))  # coreless_layer
    t62 = x99  # sharded_hop_bytes
    t80 = where(x37, 0, where(x127, x112*x99, x99/minimum(W_nvl, W_node*x65)))  # stage_hop
    t121 = where(x37, 0, where(x127, x147*x99, x99/minimum(t102, t103*x65)))  # stage_hop
    t175 = (
        where(x37, 0, where(x127, alpha_1, alpha_2)) + where(x37, 0, where(x127, x161*x99, x99/minimum(t144, t145*x65)))
    )  # expected_hop
    t194 = x137*x168  # microbatch_gpu_time
    x29 = t12 - x28
    t41 = (
        where(x32, t39, where(x34, x20*(b_kept*x38*(t19 + t4) + x88*(x13 + x46)), where(x35, x77*x88, t40)))
    )  # layer_kept
    t63 = where(x37, 0, n_virt*t62*x94)  # pipeline_bytes
    t82 = where(x130, t80*x129, t80*x131)  # pipeline_exposed
    t123 = where(x130, t121*x129, t121*x131)  # pipeline_exposed
    t177 = where(x130, t175*x129, t175*x131)  # pipeline_exposed
    t195 = t194*t9  # expected_step
    t13 = where(x30, t12 - x29*(2 - minimum(2, ceil(x23/maximum(1, x29)))), x28)  # stage_layers
    x36 = t13*x2
    x52 = t10*t13
    x57 = t13*(x54 + 3)
    x90 = t13**(-1.0)
    x169 = ops_attn*t13
    x172 = t_far*t13*maximum(0, -G + Y)*where(x37, 1, x159)
    t14 = maximum(maximum(x22, x24*(x22 + x31)), t13*x21 + x22*where(x30, minimum(1, t12 - t13), 1))  # stage_flops
    t42 = t13*t38*x25  # flying_layers
    t47 = t13*t41 + t44*x38  # last_stage_activations
    t148 = where(less(Y, 2), 0, t13*x53*(3*n_sp + x54*(n_sp + 1) + 2))  # tp_calls
    t169 = t_head + t13*(Y*t_cross*minimum(1, x27)*where(x127, 0, 1) + t_host)  # microbatch_host_time
    x39 = P_exp*x36
    x63 = x36*x4
    x108 = t15*x36
    t16 = t13*x16*(D + n_bias) + x15*where(x37, n_emb, 1) + x36*(P - n_emb*x15)  # stage_params
    t24 = x51*x52  # kernels_forward
    t25 = (
        x52*(t22*x50 + t6*x38 + where(x32, 0, where(x34, t23*x50 + t7*x38, where(x35, x51, x10*x38))))
    )  # kernels_backward
    t26 = x12*x52*x53*(n_sp + x55)  # tp_bytes
    t188 = ops_attn*x171*x38*x52  # microbatch_gpu_time
    t29 = S*b*d_head*n_seq*x1*x57  # cp_bytes
    t151 = where(less(n_cp, 2), 0, x57)  # cp_calls
    t43 = t41*t42  # flying_activations
    x41 = x39/Z
    x75 = x39*x72
    x64 = D*Z*x62*x63*(b + t1)*(x54 + 2)
    t154 = where(less(Z, 2), 0, x55*x63)  # ep_calls
    t168 = 6*F*n_mat*x164*x43*x63*(g_grp - 1)  # grouped_time
    x109 = 2*t14 + x108
    x170 = x163*(3*t14 + x108 - 3*x169)
    x40 = x38*(t16 - x39)
    x73 = t16*x72
    x101 = t24*x100
    x138 = t24*x137
    x106 = t25*x100
    x144 = t25*x137
    x167 = g_ker*(t24 + t25)
    t27 = t26*(1 - 1/maximum(1, x56))  # group_nvlink
    t28 = t26*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t189 = t188*t9  # expected_step
    x59 = t29*x38
    x92 = maximum(t43, t47)
    t32 = f_hit*x64*(x61 - 1)/x61  # exchange_nvlink
    t33 = f_node*x64*(x66 - 1)/x66  # exchange_network
    t190 = maximum(0, t168)  # expected_microbatch
    t186 = x170*x62  # microbatch_gpu_time
    x42 = x40 + x41
    x74 = b_grad*x40
    x97 = x40*(-Y/maximum(Y, x96) + 1) + x41*(-Z/maximum(Z, x96) + 1)
    x98 = x40*x56*(-x60/maximum(maximum(G, Y), x95) + 1) + x41*x61*(-maximum(G, Z)/maximum(maximum(G, Z), x95) + 1)
    t85 = x101  # stage_forward
    t126 = x138  # stage_forward
    t86 = x106  # stage_backward
    t127 = x144  # stage_backward
    t192 = x137*x167  # microbatch_gpu_time
    t53 = t27*t9  # step_bytes
    t54 = t28*t9  # step_bytes
    t66 = maximum(t27*x112, t28*x111)  # level_time
    t107 = maximum(t27*x147, t28*x148)  # level_time
    t150 = (
        t148*where(less_equal(t149, 1), alpha_1, alpha_2 + x160*(t149 - 2)) + maximum(t27*x161, t28*x162)
    )  # expected_level
    t30 = x59*(-Y/maximum(Y, minimum(G, x58)) + 1)  # group_nvlink
    t31 = x56*x59*(-x60/maximum(maximum(G, Y), x58) + 1)  # group_network
    t50 = x92  # gpu_memory
    t57 = t32*t9  # step_bytes
    t58 = t33*t9  # step_bytes
    t68 = maximum(t32*x112, t33*x111)  # level_time
    t109 = maximum(t32*x147, t33*x148)  # level_time
    t156 = (
        t154*where(less_equal(t155, 1), alpha_1, alpha_2 + x160*(t155 - 2)) + maximum(t32*x161, t33*x162)
    )  # expected_level
    t191 = t190*t9  # expected_step
    t187 = t186*t9  # expected_step
    t17 = x42  # stage_rank_params
    t34 = where(x67, b_w*x42, where(x70, b_w*x40 + b_w*x41, b_w*x73))  # stage_state
    t36 = where(x67, t0*x42, where(x70, t0*x40*x71 + t0*x75, t0*x73))  # stage_state
    t35 = (
        where(x67, b_grad*x42, where(x68, b_grad*x41 + x74, where(x69, b_grad*x75 + x71*x74, b_grad*x73)))
    )  # stage_state
    x113 = b_grad*x97
    x115 = b_w*x97
    t60 = t59*x97  # dp_nvlink
    x114 = b_grad*x98
    x116 = b_w*x98
    t61 = t59*x98  # dp_network
    t91 = t85 + t86  # microbatch_time
    t132 = t126 + t127  # microbatch_time
    t193 = t192*t9  # expected_step
    x117 = g_tp*t66
    x149 = g_tp*t107
    x173 = g_tp*t150
    t55 = t30*t9  # step_bytes
    t56 = t31*t9  # step_bytes
    t67 = maximum(t30*x112, t31*x111)  # level_time
    t108 = maximum(t30*x147, t31*x148)  # level_time
    t153 = (
        t151*where(less_equal(t152, 1), alpha_1, alpha_2 + x160*(t152 - 2)) + maximum(t30*x161, t31*x162)
    )  # expected_level
    x119 = g_ep*t68
    x151 = g_ep*t109
    x175 = g_ep*t156
    x102 = t17*x100
    x139 = t17*x137
    x166 = b_acc*t17
    t48 = (
        t17*x90*where(x68, 0, where(x69, b_grad, b_grad + 2*b_w)) + where(x32, 0, where(x35, t39, t39 - t40))
    )  # working_memory
    t49 = V_fix + b_bucket*t17*minimum(1, x91) + t46  # framework_memory
    t180 = where(x69, maximum(1, b_w*t17/V_bucket), t13)  # dp_buckets
    t37 = t34 + t35 + t36  # replicated_state
    t69 = x113  # dp_nvlink
    t110 = x113  # dp_nvlink
    t157 = x113  # dp_nvlink
    t72 = x115  # dp_nvlink
    t113 = x115  # dp_nvlink
    t161 = x115  # dp_nvlink
    t70 = x114  # dp_network
    t111 = x114  # dp_network
    t158 = x114  # dp_network
    t73 = x116  # dp_network
    t114 = x116  # dp_network
    t162 = x116  # dp_network
    t92 = t9*t91  # step_sum
    t133 = t132*t9  # step_sum
    t93 = x117  # microbatch_time
    t134 = x149  # microbatch_time
    t198 = x172 + maximum(0, x173)  # expected_microbatch
    x118 = g_cp*t67
    x150 = g_cp*t108
    x174 = g_cp*t153
    t97 = x119  # microbatch_time
    t138 = x151  # microbatch_time
    t202 = maximum(0, x175)  # expected_microbatch
    x105 = maximum(b_w*x102, t14*x104)
    x110 = maximum(x102*x107, x104*x109)
    x140 = b_w*x139
    x145 = x107*x139
    t182 = b_upd*x139*where(x67, 1, x71) + t_fix  # update_time
    t167 = x137*(x166 + x167 + x168) + x62*(x169*x171 + x170)  # microbatch_gpu_time
    t196 = x137*x166  # microbatch_gpu_time
    x93 = t48 + t49
    t71 = maximum(t69*x112, t70*x111)  # level_time
    t112 = maximum(t110*x147, t111*x148)  # level_time
    t160 = maximum(t157*x161, t158*x162)  # expected_level
    t74 = maximum(t72*x112, t73*x111)  # level_time
    t115 = maximum(t113*x147, t114*x148)  # level_time
    t164 = maximum(t161*x161, t162*x162)  # expected_level
    t94 = t9*t93  # step_sum
    t135 = t134*t9  # step_sum
    t199 = t198*t9  # expected_step
    t95 = x118  # microbatch_time
    t136 = x150  # microbatch_time
    t200 = maximum(0, x174)  # expected_microbatch
    t98 = t9*t97  # step_sum
    t139 = t138*t9  # step_sum
    t203 = t202*t9  # expected_step
    t64 = x101 + x105  # stage_forward
    t76 = x105  # stage_forward
    t65 = x106 + x110  # stage_backward
    t84 = x110  # stage_backward
    x143 = maximum(x140, t14*x142)
    x165 = maximum(x140, t14*x164)
    x146 = maximum(x145, x109*x142)
    t166 = x144 + maximum(x145, x109*x164)  # stage_backward
    x176 = t167 + t168 + x173 + x174 + x175
    t197 = t196*t9  # expected_step
    t51 = x93  # gpu_memory
    t52 = t37 + x92 + x93  # gpu_memory
    x179 = 2*t160
    t96 = t9*t95  # step_sum
    t137 = t136*t9  # step_sum
    t201 = t200*t9  # expected_step
    x125 = -t64 + t74
    x120 = t64 + t65
    x123 = -t65*x122
    x124 = -t65 + t71
    t89 = t76 + t84  # microbatch_time
    t105 = x138 + x143  # stage_forward
    t117 = x143  # stage_forward
    t165 = x138 + x165  # stage_forward
    t173 = x165  # stage_forward
    t106 = x144 + x146  # stage_backward
    t125 = x146  # stage_backward
    x178 = -t166
    x180 = -t166*x122
    t170 = x172 + maximum(t169, x176)  # expected_microbatch
    t204 = maximum(0, t169 - x176)  # host_wait
    t178 = where(x67, x179, where(x68, t160 + t164, where(x69, t160*t9 + t164, t9*(t160 + 2*t164))))  # dp_exchange
    x126 = maximum(maximum(0, x125*x25), -t64*x122 + t74)
    t75 = x117 + x118 + x119 + x120  # microbatch_time
    t90 = t89*t9  # step_sum
    x156 = -t105 + t115
    x182 = t164 - t165
    x152 = t105 + t106
    x154 = -t106*x122
    x155 = -t106 + t112
    t130 = t117 + t125  # microbatch_time
    x181 = t160 + x178
    x177 = t170/(t165 + t166)
    t205 = t204*t9  # expected_step
    t79 = (
        where(x67, maximum(maximum(0, 2*t71 + x123), x25*(-t65 + 2*t71)), where(x68, x126 + maximum(maximum(0,
        x124*x25), t71 + x123), where(x69, t9*maximum(0, x124) + x126, t9*(maximum(0, x125) + maximum(0, -t65 + t71 +
        t74)))))
    )  # exposed_dp
    x121 = t75/x120
    x157 = maximum(maximum(0, x156*x25), -t105*x122 + t115)
    x183 = maximum(maximum(0, x182*x25), t164 - t165*x122)
    t116 = x149 + x150 + x151 + x152  # microbatch_time
    t131 = t130*t9  # step_sum
    t171 = t165*x177  # forward_slot
    t172 = t166*x177  # backward_slot
    t77 = t64*x121  # forward_slot
    t78 = t65*x121  # backward_slot
    t120 = (
        where(x67, maximum(maximum(0, 2*t112 + x154), x25*(-t106 + 2*t112)), where(x68, x157 + maximum(maximum(0,
        x155*x25), t112 + x154), where(x69, t9*maximum(0, x155) + x157, t9*(maximum(0, x156) + maximum(0, -t106 + t112 +
        t115)))))
    )  # exposed_dp
    t174 = (
        where(x67, maximum(maximum(0, x179 + x180), x25*(x178 + x179)), where(x68, x183 + maximum(maximum(0, x181*x25),
        t160 + x180), where(x69, t9*maximum(0, x181) + x183, t9*(maximum(0, x182) + maximum(0, t164 + x181)))))
    )  # exposed_dp
    x153 = t116/x152
    x184 = t172 - t173
    t81 = -x128*minimum(minimum(t76, t77), -t76 + t78) + x27*(-t76 + t77 + t78)  # zb_bubble
    t181 = (
        alpha_dp*t179*t180*x91 + minimum(t178, g_dp*(-t174 + t178)*minimum(1, n_zero + x27) + n_edge*t178*x90 + t174)
    )  # expected_dp
    t118 = t105*x153  # forward_slot
    t119 = t106*x153  # backward_slot
    t176 = -x128*minimum(minimum(t171, t173), x184) + x27*(t171 + x184)  # zb_bubble
    t83 = t75*t9 + t79 + t81 + t82  # step_sum
    t122 = -x128*minimum(minimum(t117, t118), -t117 + t119) + x27*(-t117 + t118 + t119)  # zb_bubble
    t183 = t170*t9 + t176 + t177 + t181 + t182  # expected_step
    t100 = t99*x135/t83  # mfu
    t124 = t116*t9 + t120 + t122 + t123  # step_sum
    t207 = t206*x135/t183  # mfu
    t141 = t140*x135/t124  # mfu
    return [
        t9, t13, t34, t35, t36, t37, t50, t51, t52, t53, t54, t55, t56, t57, t58, t60, t61, t63, t88, t90, t92, t94,
        t96, t98, t79, t82, t81, t83, t100, t129, t131, t133, t135, t137, t139, t120, t123, t122, t124, t141, t185,
        t187, t189, t191, t193, t195, t197, t199, t201, t203, t205, t176, t177, t181, t182, t183, t207,
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
