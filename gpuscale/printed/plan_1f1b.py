"""Plans with the schedule 1f1b and attention; behind a line, the formula of gpuscale.llm that it ends.

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
    x76 = less(n_virt, 2)
    x80 = 4*D
    x83 = less(n_drop, 1)
    x91 = X*n_cp - 1
    x92 = W_node*eta_net
    x94 = G*alpha_rank
    t140 = W_nvl*eta_nvl  # reached_bandwidth
    t102 = W_hbm*eta_hbm  # reached_bandwidth
    t138 = C*eta_mat  # reached_flops
    x107 = greater_equal(G, N_gpu)
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t139 = C*eta_attn  # reached_flops
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
    x110 = x25*(N_stages*(n_virt - 1) + 1)
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
    t148 = maximum(1, x58*x65)  # spanned_nodes
    x70 = logical_or.reduce((x68,x69))
    t141 = x92  # reached_bandwidth
    x95 = t140**(-1.0)
    x101 = t102**(-1.0)
    x103 = t138**(-1.0)
    x14 = x12*x2*x4*(3*k + n_shared + 1) + where(less(n_pos, 1), x0*x13, 0)
    t3 = 2*x0  # kept_attention
    t4 = d_head*(n_q + x1)  # few_attention
    t8 = D*x16 + x2*(P_act - x15)  # mean_layer_matrices
    x7 = b*x6
    t20 = D*n_copy + n_wide*x6  # framework_elements
    t23 = x48  # norms_forward
    t38 = where(x76, minimum(N_stages, t9), minimum(n_virt*t9, N_stages*(n_virt + 1) - 1))  # first_stage_held
    t172 = where(x68, 1, where(x69, t9, 3*t9))  # dp_rounds
    x20 = S*x19
    x86 = S**2*n_q*x19*(b_mask + x13)
    x72 = x38*x71
    x28 = n_virt*ceil(L*x26)
    x55 = 2*x54 + 4
    t21 = D*(10*b + x46)  # between_forward
    t22 = D*(12*b + n_drop*x47)  # between_backward
    x88 = D*x50
    x98 = minimum(G, x97)
    t151 = x66  # spanned_nodes
    t45 = x89  # run_nodes
    t142 = x89  # run_nodes
    t145 = maximum(1, x93)  # spanned_nodes
    x81 = t18 + t3
    x21 = ops_attn + 2*t8
    x11 = n_mat*x7 + x10
    t6 = x14 + x7*(2*n_mat - 1) + x9*(5*b + b_mask)  # inside_backward
    x77 = b*x20
    x85 = x20*(D*x47 + x38*(x48 + x84))
    x87 = x20*(D*(8*b + x45) + x84)
    t10 = x20  # microbatch_tokens
    t143 = x92*maximum(1, (1/2)*t142)**(-gamma_net)  # many_nodes
    x23 = x22/x21
    x31 = L*x21
    t5 = x11 + x14  # inside_forward
    t7 = x11  # inside_recompute
    x78 = x38*x77
    x62 = t10*x38
    t44 = t10*(D*x13 + b_logit*n_vocab)  # head_activations
    t46 = n_ahead*n_sp*t10*x12*(1 - x38)*where(x37, 1, where(less(N_stages, 3), 0, p_calm**t45))  # unfreed_arrays
    x96 = t143**(-1.0)
    t11 = ceil(x23)  # head_layers
    t15 = where(x32, 0, where(x34, x33, where(x35, x31, x33)))  # recomputed_flops
    x51 = t21*x50 + t5*x38
    x79 = t20*x78
    x82 = where(x49, x77*(x38*x81 + x80), x78*(x80 + x81))
    x104 = x103*x62
    x115 = x12*x62
    t12 = n_virt*minimum(ceil(x26*(L + t11)), ceil(L*x25/maximum(1, x27)))  # stage_room
    t39 = x79 + where(x83, x82, where(x49, x38*x86 + x85, x38*(x86 + x87)))  # whole_layer
    t40 = x79 + where(x83, x82, where(x49, x85, x38*x87))  # coreless_layer
    t168 = (
        where(x37, 0, where(x107, alpha_1, alpha_2)) + where(x37, 0, where(x107, x115*x95, x115/minimum(t140,
        t141*x65)))
    )  # expected_hop
    x29 = t12 - x28
    t41 = (
        where(x32, t39, where(x34, x20*(b_kept*x38*(t19 + t4) + x88*(x13 + x46)), where(x35, x77*x88, t40)))
    )  # layer_kept
    t170 = where(x76, 2*t168*(x27 + ceil(x24*x27*(t9 - 2))), t168*(2*N_stages*n_virt - 2))  # pipeline_exposed
    t13 = where(x30, t12 - x29*(2 - minimum(2, ceil(x23/maximum(1, x29)))), x28)  # stage_layers
    x36 = t13*x2
    x52 = t10*t13
    x57 = t13*(x54 + 3)
    x90 = t13**(-1.0)
    x106 = ops_attn*t13
    t14 = maximum(maximum(x22, x24*(x22 + x31)), t13*x21 + x22*where(x30, minimum(1, t12 - t13), 1))  # stage_flops
    t42 = t13*t38*x25  # flying_layers
    t47 = t13*t41 + t44*x38  # last_stage_activations
    t144 = where(less(Y, 2), 0, t13*x53*(3*n_sp + x54*(n_sp + 1) + 2))  # tp_calls
    t165 = t_head + t13*(Y*t_cross*minimum(1, x27)*where(x107, 0, 1) + t_host)  # microbatch_host_time
    x39 = P_exp*x36
    x63 = x36*x4
    x105 = t15*x36
    t16 = t13*x16*(D + n_bias) + x15*where(x37, n_emb, 1) + x36*(P - n_emb*x15)  # stage_params
    t24 = x51*x52  # kernels_forward
    t25 = (
        x52*(t22*x50 + t6*x38 + where(x32, 0, where(x34, t23*x50 + t7*x38, where(x35, x51, x10*x38))))
    )  # kernels_backward
    t26 = x12*x52*x53*(n_sp + x55)  # tp_bytes
    t29 = S*b*d_head*n_seq*x1*x57  # cp_bytes
    t147 = where(less(n_cp, 2), 0, x57)  # cp_calls
    t43 = t41*t42  # flying_activations
    x41 = x39/Z
    x75 = x39*x72
    x64 = D*Z*x62*x63*(b + t1)*(x54 + 2)
    t150 = where(less(Z, 2), 0, x55*x63)  # ep_calls
    t164 = 6*F*n_mat*x104*x43*x63*(g_grp - 1)  # grouped_time
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
    t146 = (
        t144*where(less_equal(t145, 1), alpha_1, alpha_2 + x94*(t145 - 2)) + maximum(t27*x95, t28*x96)
    )  # expected_level
    t30 = x59*(-Y/maximum(Y, minimum(G, x58)) + 1)  # group_nvlink
    t31 = x56*x59*(-x60/maximum(maximum(G, Y), x58) + 1)  # group_network
    t152 = (
        t150*where(less_equal(t151, 1), alpha_1, alpha_2 + x94*(t151 - 2)) + maximum(t32*x95, t33*x96)
    )  # expected_level
    t17 = x42  # stage_rank_params
    t34 = where(x67, b_w*x42, where(x70, b_w*x40 + b_w*x41, b_w*x73))  # stage_state
    t36 = where(x67, t0*x42, where(x70, t0*x40*x71 + t0*x75, t0*x73))  # stage_state
    t35 = (
        where(x67, b_grad*x42, where(x68, b_grad*x41 + x74, where(x69, b_grad*x75 + x71*x74, b_grad*x73)))
    )  # stage_state
    t153 = b_grad*x99  # dp_nvlink
    t157 = b_w*x99  # dp_nvlink
    t154 = b_grad*x100  # dp_network
    t158 = b_w*x100  # dp_network
    t149 = (
        t147*where(less_equal(t148, 1), alpha_1, alpha_2 + x94*(t148 - 2)) + maximum(t30*x95, t31*x96)
    )  # expected_level
    x102 = t17*x101
    t48 = (
        t17*x90*where(x68, 0, where(x69, b_grad, b_grad + 2*b_w)) + where(x32, 0, where(x35, t39, t39 - t40))
    )  # working_memory
    t49 = V_fix + b_bucket*t17*minimum(1, x91) + t46  # framework_memory
    t163 = (
        x101*(b_acc*t17 + b_loss*n_vocab*x62 + g_ker*(t24 + t25)) + x62*(x103*(3*t14 + x105 - 3*x106) + x106*(g_attn +
        1)/t139)
    )  # microbatch_gpu_time
    t173 = where(x69, maximum(1, b_w*t17/V_bucket), t13)  # dp_buckets
    t37 = t34 + t35 + t36  # replicated_state
    t156 = maximum(t153*x95, t154*x96)  # expected_level
    t160 = maximum(t157*x95, t158*x96)  # expected_level
    t161 = t24*x101 + maximum(b_w*x102, t14*x104)  # stage_forward
    t162 = t25*x101 + maximum(x102*(2*b_grad + b_w), x104*(2*t14 + x105))  # stage_backward
    t175 = b_upd*x102*where(x67, 1, x71) + t_fix  # update_time
    t166 = (
        t_far*t13*maximum(0, -G + Y)*where(x37, 1, x93) + maximum(t165, g_cp*t149 + g_ep*t152 + g_tp*t146 + t163 + t164)
    )  # expected_microbatch
    t52 = t37 + t48 + t49 + maximum(t43, t47)  # gpu_memory
    x109 = 2*t156
    x113 = t160 - t161
    x108 = -t162
    x111 = -t162*x110
    t169 = t166*x25*x27  # interleaved_bubble
    t171 = where(x67, x109, where(x68, t156 + t160, where(x69, t156*t9 + t160, t9*(t156 + 2*t160))))  # dp_exchange
    x114 = maximum(maximum(0, x113*x25), t160 - t161*x110)
    x112 = t156 + x108
    t167 = (
        where(x67, maximum(maximum(0, x109 + x111), x25*(x108 + x109)), where(x68, x114 + maximum(maximum(0, x112*x25),
        t156 + x111), where(x69, t9*maximum(0, x112) + x114, t9*(maximum(0, x113) + maximum(0, t160 + x112)))))
    )  # exposed_dp
    t174 = (
        alpha_dp*t172*t173*x91 + minimum(t171, g_dp*(-t167 + t171)*minimum(1, n_zero + x27) + n_edge*t171*x90 + t167)
    )  # expected_dp
    t176 = t166*t9 + t169 + t170 + t174 + t175  # expected_step
    return [t52, t37, t176]


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
    x76 = less(n_virt, 2)
    x81 = 4*D
    x84 = less(n_drop, 1)
    x92 = X*n_cp - 1
    x100 = W_hbm**(-1.0)
    x103 = C**(-1.0)
    x107 = 2*b_grad + b_w
    x111 = W_node**(-1.0)
    x112 = W_nvl**(-1.0)
    x125 = greater_equal(G, N_gpu)
    x128 = 2*N_stages*n_virt - 2
    x129 = 3*B
    x131 = N_gpu**(-1.0)
    t102 = W_hbm*eta_hbm  # reached_bandwidth
    t99 = C*eta  # reached_flops
    t100 = W_nvl*eta_1  # reached_bandwidth
    t101 = W_node*eta_2  # reached_bandwidth
    x153 = W_node*eta_net
    x155 = G*alpha_rank
    t140 = W_nvl*eta_nvl  # reached_bandwidth
    t138 = C*eta_mat  # reached_flops
    t139 = C*eta_attn  # reached_flops
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t177 = 6*B*P_act  # model_flops
    x0 = d_head*(n_q + t2)
    x1 = 2*t2
    x16 = 2*d_head*(-n_kv + t2)
    x53 = L_dense*x2 + 1
    x6 = x2*(x3 + x4*x5)
    x48 = D*x8
    x10 = x9*(b_mask + x8)
    x85 = F*x13
    x22 = 2*x15
    t9 = B*x17/(S*n_seq)  # microbatches
    x19 = n_seq*x18
    x71 = x17*x18
    x26 = x24*x25
    x120 = x25*(N_stages*(n_virt - 1) + 1)
    x126 = x25*x27
    x54 = where(x34, 0, where(x35, 1, 0))
    t18 = x2*(n_mat*x3 + x4*(n_mat*x5 + 2*x43))  # mean_kept_mlp
    t19 = x2*(x3*x44 + x4*(x43 + x44*x5))  # mean_few_mlp
    x46 = n_drop*x45
    x47 = x45 + x8
    x50 = where(x49, 1, x38)
    x95 = X*x58
    x66 = maximum(1, Z*x65)
    x90 = maximum(1, N_gpu*x65)
    x154 = Y*x65
    t148 = maximum(1, x58*x65)  # spanned_nodes
    x70 = logical_or.reduce((x68,x69))
    x130 = x129*(2*P_act + x33)
    x133 = ops_tok*x129
    x132 = x103*x131
    x134 = t102**(-1.0)
    x138 = t99**(-1.0)
    x144 = t100**(-1.0)
    x145 = t101**(-1.0)
    t141 = x153  # reached_bandwidth
    x156 = t140**(-1.0)
    x158 = t138**(-1.0)
    x165 = (g_attn + 1)/t139
    x14 = x12*x2*x4*(3*k + n_shared + 1) + where(less(n_pos, 1), x0*x13, 0)
    t3 = 2*x0  # kept_attention
    t4 = d_head*(n_q + x1)  # few_attention
    t8 = D*x16 + x2*(P_act - x15)  # mean_layer_matrices
    x7 = b*x6
    t20 = D*n_copy + n_wide*x6  # framework_elements
    t23 = x48  # norms_forward
    x77 = n_virt*t9
    x127 = 2*x27 + 2*ceil(x24*x27*(t9 - 2))
    t59 = b_grad*where(x67, 2, where(x68, 1, t9)) + b_w*where(x67, 0, where(x69, 1, 2*t9))  # dp_passes
    t172 = where(x68, 1, where(x69, t9, 3*t9))  # dp_rounds
    x20 = S*x19
    x87 = S**2*n_q*x19*(b_mask + x13)
    x72 = x38*x71
    x28 = n_virt*ceil(L*x26)
    x55 = 2*x54 + 4
    t21 = D*(10*b + x46)  # between_forward
    t22 = D*(12*b + n_drop*x47)  # between_backward
    x89 = D*x50
    x96 = minimum(G, x95)
    t151 = x66  # spanned_nodes
    t45 = x90  # run_nodes
    t142 = x90  # run_nodes
    t145 = maximum(1, x154)  # spanned_nodes
    t85 = x130  # model_flops
    t124 = x130  # model_flops
    t97 = x133  # counted_flops
    t136 = x133  # counted_flops
    t199 = x133  # counted_flops
    t178 = t177*x131*x158  # mfu_step_time
    x82 = t18 + t3
    x21 = ops_attn + 2*t8
    x11 = n_mat*x7 + x10
    t6 = x14 + x7*(2*n_mat - 1) + x9*(5*b + b_mask)  # inside_backward
    t38 = where(x76, minimum(N_stages, t9), minimum(x77, N_stages*(n_virt + 1) - 1))  # first_stage_held
    x78 = b*x20
    x86 = x20*(D*x47 + x38*(x48 + x85))
    x88 = x20*(D*(8*b + x45) + x85)
    t10 = x20  # microbatch_tokens
    t143 = x153*maximum(1, (1/2)*t142)**(-gamma_net)  # many_nodes
    t86 = t85*x132  # mfu_step_time
    t125 = t124*x131*x138  # mfu_step_time
    x23 = x22/x21
    x31 = L*x21
    t5 = x11 + x14  # inside_forward
    t7 = x11  # inside_recompute
    x79 = x38*x78
    x62 = t10*x38
    t44 = t10*(D*x13 + b_logit*n_vocab)  # head_activations
    t46 = n_ahead*n_sp*t10*x12*(1 - x38)*where(x37, 1, where(less(N_stages, 3), 0, p_calm**t45))  # unfreed_arrays
    x157 = t143**(-1.0)
    t11 = ceil(x23)  # head_layers
    t15 = where(x32, 0, where(x34, x33, where(x35, x31, x33)))  # recomputed_flops
    x51 = t21*x50 + t5*x38
    x80 = t20*x79
    x83 = where(x49, x78*(x38*x82 + x81), x79*(x81 + x82))
    x99 = x12*x62
    x104 = x103*x62
    x139 = x138*x62
    x159 = x158*x62
    x162 = b_loss*n_vocab*x62
    t12 = n_virt*minimum(ceil(x26*(L + t11)), ceil(L*x25/maximum(1, x27)))  # stage_room
    t39 = x80 + where(x84, x83, where(x49, x38*x87 + x86, x38*(x87 + x88)))  # whole_layer
    t40 = x80 + where(x84, x83, where(x49, x86, x38*x88))  # coreless_layer
    t62 = x99  # sharded_hop_bytes
    t78 = where(x37, 0, where(x125, x112*x99, x99/minimum(W_nvl, W_node*x65)))  # stage_hop
    t117 = where(x37, 0, where(x125, x144*x99, x99/minimum(t100, t101*x65)))  # stage_hop
    t168 = (
        where(x37, 0, where(x125, alpha_1, alpha_2)) + where(x37, 0, where(x125, x156*x99, x99/minimum(t140, t141*x65)))
    )  # expected_hop
    t187 = x134*x162  # microbatch_gpu_time
    x29 = t12 - x28
    t41 = (
        where(x32, t39, where(x34, x20*(b_kept*x38*(t19 + t4) + x89*(x13 + x46)), where(x35, x78*x89, t40)))
    )  # layer_kept
    t63 = where(x37, 0, 2*t62*x77)  # pipeline_bytes
    t80 = where(x76, t78*x127, t78*x128)  # pipeline_exposed
    t119 = where(x76, t117*x127, t117*x128)  # pipeline_exposed
    t170 = where(x76, t168*x127, t168*x128)  # pipeline_exposed
    t188 = t187*t9  # expected_step
    t13 = where(x30, t12 - x29*(2 - minimum(2, ceil(x23/maximum(1, x29)))), x28)  # stage_layers
    x36 = t13*x2
    x52 = t10*t13
    x57 = t13*(x54 + 3)
    x91 = t13**(-1.0)
    x163 = ops_attn*t13
    x166 = t_far*t13*maximum(0, -G + Y)*where(x37, 1, x154)
    t14 = maximum(maximum(x22, x24*(x22 + x31)), t13*x21 + x22*where(x30, minimum(1, t12 - t13), 1))  # stage_flops
    t42 = t13*t38*x25  # flying_layers
    t47 = t13*t41 + t44*x38  # last_stage_activations
    t144 = where(less(Y, 2), 0, t13*x53*(3*n_sp + x54*(n_sp + 1) + 2))  # tp_calls
    t165 = t_head + t13*(Y*t_cross*minimum(1, x27)*where(x125, 0, 1) + t_host)  # microbatch_host_time
    x39 = P_exp*x36
    x63 = x36*x4
    x108 = t15*x36
    t16 = t13*x16*(D + n_bias) + x15*where(x37, n_emb, 1) + x36*(P - n_emb*x15)  # stage_params
    t24 = x51*x52  # kernels_forward
    t25 = (
        x52*(t22*x50 + t6*x38 + where(x32, 0, where(x34, t23*x50 + t7*x38, where(x35, x51, x10*x38))))
    )  # kernels_backward
    t26 = x12*x52*x53*(n_sp + x55)  # tp_bytes
    t181 = ops_attn*x165*x38*x52  # microbatch_gpu_time
    t29 = S*b*d_head*n_seq*x1*x57  # cp_bytes
    t147 = where(less(n_cp, 2), 0, x57)  # cp_calls
    t43 = t41*t42  # flying_activations
    x41 = x39/Z
    x75 = x39*x72
    x64 = D*Z*x62*x63*(b + t1)*(x54 + 2)
    t150 = where(less(Z, 2), 0, x55*x63)  # ep_calls
    t164 = 6*F*n_mat*x159*x43*x63*(g_grp - 1)  # grouped_time
    x109 = 2*t14 + x108
    x164 = x158*(3*t14 + x108 - 3*x163)
    x40 = x38*(t16 - x39)
    x73 = t16*x72
    x101 = t24*x100
    x135 = t24*x134
    x106 = t25*x100
    x141 = t25*x134
    x161 = g_ker*(t24 + t25)
    t27 = t26*(1 - 1/maximum(1, x56))  # group_nvlink
    t28 = t26*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t182 = t181*t9  # expected_step
    x59 = t29*x38
    x93 = maximum(t43, t47)
    t32 = f_hit*x64*(x61 - 1)/x61  # exchange_nvlink
    t33 = f_node*x64*(x66 - 1)/x66  # exchange_network
    t183 = maximum(0, t164)  # expected_microbatch
    t179 = x164*x62  # microbatch_gpu_time
    x42 = x40 + x41
    x74 = b_grad*x40
    x97 = x40*(-Y/maximum(Y, x96) + 1) + x41*(-Z/maximum(Z, x96) + 1)
    x98 = x40*x56*(-x60/maximum(maximum(G, Y), x95) + 1) + x41*x61*(-maximum(G, Z)/maximum(maximum(G, Z), x95) + 1)
    t83 = x101  # stage_forward
    t122 = x135  # stage_forward
    t84 = x106  # stage_backward
    t123 = x141  # stage_backward
    t185 = x134*x161  # microbatch_gpu_time
    t53 = t27*t9  # step_bytes
    t54 = t28*t9  # step_bytes
    t66 = maximum(t27*x112, t28*x111)  # level_time
    t105 = maximum(t27*x144, t28*x145)  # level_time
    t146 = (
        t144*where(less_equal(t145, 1), alpha_1, alpha_2 + x155*(t145 - 2)) + maximum(t27*x156, t28*x157)
    )  # expected_level
    t30 = x59*(-Y/maximum(Y, minimum(G, x58)) + 1)  # group_nvlink
    t31 = x56*x59*(-x60/maximum(maximum(G, Y), x58) + 1)  # group_network
    t50 = x93  # gpu_memory
    t57 = t32*t9  # step_bytes
    t58 = t33*t9  # step_bytes
    t68 = maximum(t32*x112, t33*x111)  # level_time
    t107 = maximum(t32*x144, t33*x145)  # level_time
    t152 = (
        t150*where(less_equal(t151, 1), alpha_1, alpha_2 + x155*(t151 - 2)) + maximum(t32*x156, t33*x157)
    )  # expected_level
    t184 = t183*t9  # expected_step
    t180 = t179*t9  # expected_step
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
    t89 = t83 + t84  # microbatch_time
    t128 = t122 + t123  # microbatch_time
    t186 = t185*t9  # expected_step
    x117 = g_tp*t66
    x146 = g_tp*t105
    x167 = g_tp*t146
    t55 = t30*t9  # step_bytes
    t56 = t31*t9  # step_bytes
    t67 = maximum(t30*x112, t31*x111)  # level_time
    t106 = maximum(t30*x144, t31*x145)  # level_time
    t149 = (
        t147*where(less_equal(t148, 1), alpha_1, alpha_2 + x155*(t148 - 2)) + maximum(t30*x156, t31*x157)
    )  # expected_level
    x119 = g_ep*t68
    x148 = g_ep*t107
    x169 = g_ep*t152
    x102 = t17*x100
    x136 = t17*x134
    x160 = b_acc*t17
    t48 = (
        t17*x91*where(x68, 0, where(x69, b_grad, b_grad + 2*b_w)) + where(x32, 0, where(x35, t39, t39 - t40))
    )  # working_memory
    t49 = V_fix + b_bucket*t17*minimum(1, x92) + t46  # framework_memory
    t173 = where(x69, maximum(1, b_w*t17/V_bucket), t13)  # dp_buckets
    t37 = t34 + t35 + t36  # replicated_state
    t69 = x113  # dp_nvlink
    t108 = x113  # dp_nvlink
    t153 = x113  # dp_nvlink
    t72 = x115  # dp_nvlink
    t111 = x115  # dp_nvlink
    t157 = x115  # dp_nvlink
    t70 = x114  # dp_network
    t109 = x114  # dp_network
    t154 = x114  # dp_network
    t73 = x116  # dp_network
    t112 = x116  # dp_network
    t158 = x116  # dp_network
    t90 = t89*t9  # step_sum
    t129 = t128*t9  # step_sum
    t91 = x117  # microbatch_time
    t130 = x146  # microbatch_time
    t191 = x166 + maximum(0, x167)  # expected_microbatch
    x118 = g_cp*t67
    x147 = g_cp*t106
    x168 = g_cp*t149
    t95 = x119  # microbatch_time
    t134 = x148  # microbatch_time
    t195 = maximum(0, x169)  # expected_microbatch
    x105 = maximum(b_w*x102, t14*x104)
    x110 = maximum(x102*x107, x104*x109)
    x137 = b_w*x136
    x142 = x107*x136
    t175 = b_upd*x136*where(x67, 1, x71) + t_fix  # update_time
    t163 = x134*(x160 + x161 + x162) + x62*(x163*x165 + x164)  # microbatch_gpu_time
    t189 = x134*x160  # microbatch_gpu_time
    x94 = t48 + t49
    t71 = maximum(t69*x112, t70*x111)  # level_time
    t110 = maximum(t108*x144, t109*x145)  # level_time
    t156 = maximum(t153*x156, t154*x157)  # expected_level
    t74 = maximum(t72*x112, t73*x111)  # level_time
    t113 = maximum(t111*x144, t112*x145)  # level_time
    t160 = maximum(t157*x156, t158*x157)  # expected_level
    t92 = t9*t91  # step_sum
    t131 = t130*t9  # step_sum
    t192 = t191*t9  # expected_step
    t93 = x118  # microbatch_time
    t132 = x147  # microbatch_time
    t193 = maximum(0, x168)  # expected_microbatch
    t96 = t9*t95  # step_sum
    t135 = t134*t9  # step_sum
    t196 = t195*t9  # expected_step
    t64 = x101 + x105  # stage_forward
    t76 = x105  # stage_forward
    t65 = x106 + x110  # stage_backward
    t82 = x110  # stage_backward
    x140 = maximum(x137, t14*x139)
    t161 = x135 + maximum(x137, t14*x159)  # stage_forward
    x143 = maximum(x142, x109*x139)
    t162 = x141 + maximum(x142, x109*x159)  # stage_backward
    x170 = t163 + t164 + x167 + x168 + x169
    t190 = t189*t9  # expected_step
    t51 = x94  # gpu_memory
    t52 = t37 + x93 + x94  # gpu_memory
    x172 = 2*t156
    t94 = t9*t93  # step_sum
    t133 = t132*t9  # step_sum
    t194 = t193*t9  # expected_step
    x123 = -t64 + t74
    x121 = -t65*x120
    x122 = -t65 + t71
    t75 = t64 + t65 + x117 + x118 + x119  # microbatch_time
    t87 = t76 + t82  # microbatch_time
    t103 = x135 + x140  # stage_forward
    t115 = x140  # stage_forward
    x175 = t160 - t161
    t104 = x141 + x143  # stage_backward
    t121 = x143  # stage_backward
    x171 = -t162
    x173 = -t162*x120
    t166 = x166 + maximum(t165, x170)  # expected_microbatch
    t197 = maximum(0, t165 - x170)  # host_wait
    t171 = where(x67, x172, where(x68, t156 + t160, where(x69, t156*t9 + t160, t9*(t156 + 2*t160))))  # dp_exchange
    x124 = maximum(maximum(0, x123*x25), -t64*x120 + t74)
    t79 = t75*x126  # interleaved_bubble
    t88 = t87*t9  # step_sum
    x151 = -t103 + t113
    x176 = maximum(maximum(0, x175*x25), t160 - t161*x120)
    x149 = -t104*x120
    x150 = -t104 + t110
    t114 = t103 + t104 + x146 + x147 + x148  # microbatch_time
    t126 = t115 + t121  # microbatch_time
    x174 = t156 + x171
    t169 = t166*x126  # interleaved_bubble
    t198 = t197*t9  # expected_step
    t77 = (
        where(x67, maximum(maximum(0, 2*t71 + x121), x25*(-t65 + 2*t71)), where(x68, x124 + maximum(maximum(0,
        x122*x25), t71 + x121), where(x69, t9*maximum(0, x122) + x124, t9*(maximum(0, x123) + maximum(0, -t65 + t71 +
        t74)))))
    )  # exposed_dp
    x152 = maximum(maximum(0, x151*x25), -t103*x120 + t113)
    t118 = t114*x126  # interleaved_bubble
    t127 = t126*t9  # step_sum
    t167 = (
        where(x67, maximum(maximum(0, x172 + x173), x25*(x171 + x172)), where(x68, x176 + maximum(maximum(0, x174*x25),
        t156 + x173), where(x69, t9*maximum(0, x174) + x176, t9*(maximum(0, x175) + maximum(0, t160 + x174)))))
    )  # exposed_dp
    t81 = t75*t9 + t77 + t79 + t80  # step_sum
    t116 = (
        where(x67, maximum(maximum(0, 2*t110 + x149), x25*(-t104 + 2*t110)), where(x68, x152 + maximum(maximum(0,
        x150*x25), t110 + x149), where(x69, t9*maximum(0, x150) + x152, t9*(maximum(0, x151) + maximum(0, -t104 + t110 +
        t113)))))
    )  # exposed_dp
    t174 = (
        alpha_dp*t172*t173*x92 + minimum(t171, g_dp*(-t167 + t171)*minimum(1, n_zero + x27) + n_edge*t171*x91 + t167)
    )  # expected_dp
    t98 = t97*x132/t81  # mfu
    t120 = t114*t9 + t116 + t118 + t119  # step_sum
    t176 = t166*t9 + t169 + t170 + t174 + t175  # expected_step
    t137 = t136*x132/t120  # mfu
    t200 = t199*x132/t176  # mfu
    return [
        t9, t13, t34, t35, t36, t37, t50, t51, t52, t53, t54, t55, t56, t57, t58, t60, t61, t63, t86, t88, t90, t92,
        t94, t96, t77, t80, t79, t81, t98, t125, t127, t129, t131, t133, t135, t116, t119, t118, t120, t137, t178, t180,
        t182, t184, t186, t188, t190, t192, t194, t196, t198, t169, t170, t174, t175, t176, t200,
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
