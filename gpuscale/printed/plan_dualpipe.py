"""Plans with the schedule dualpipe and attention; behind a line, the formula of gpuscale.llm that it ends.

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
    x67 = 2*b_w
    x68 = less(n_zero, 1)
    x69 = less(n_zero, 2)
    x70 = less(n_zero, 3)
    x75 = 2*b_grad
    t0 = b_master + 2*b_mom  # optimizer_bytes
    x81 = 4*D
    x84 = less(n_drop, 1)
    x91 = X*n_cp - 1
    x92 = W_node*eta_net
    x94 = G*alpha_rank
    t142 = W_nvl*eta_nvl  # reached_bandwidth
    t102 = W_hbm*eta_hbm  # reached_bandwidth
    t140 = C*eta_mat  # reached_flops
    x108 = greater_equal(G, N_gpu)
    x118 = (1/2)*N_stages - 1
    t38 = N_stages + 1  # dualpipe_held
    t141 = C*eta_attn  # reached_flops
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
    x72 = x17*x18
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
    x93 = Y*x65
    t144 = maximum(1, N_gpu*x65)  # run_nodes
    t150 = maximum(1, x58*x65)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    t143 = x92  # reached_bandwidth
    x95 = t142**(-1.0)
    x101 = t102**(-1.0)
    x103 = t140**(-1.0)
    x14 = x12*x2*x4*(3*k + n_shared + 1) + where(less(n_pos, 1), x0*x13, 0)
    t3 = 2*x0  # kept_attention
    t4 = d_head*(n_q + x1)  # few_attention
    t8 = D*x16 + x2*(P_act - x15)  # mean_layer_matrices
    x7 = b*x6
    t20 = D*n_copy + n_wide*x6  # framework_elements
    t23 = x48  # norms_forward
    t177 = where(x69, 1, where(x70, t9, 3*t9))  # dp_rounds
    x20 = S*x19
    x87 = S**2*n_q*x19*(b_mask + x13)
    x78 = t0*x72
    x28 = n_virt*ceil(L*x26)
    x55 = 2*x54 + 4
    t21 = D*(10*b + x46)  # between_forward
    t22 = D*(12*b + n_drop*x47)  # between_backward
    x89 = D*x50
    x98 = minimum(G, x97)
    t153 = x66  # spanned_nodes
    t147 = maximum(1, x93)  # spanned_nodes
    t145 = x92*maximum(1, (1/2)*t144)**(-gamma_net)  # many_nodes
    x82 = t18 + t3
    x21 = ops_attn + 2*t8
    x11 = n_mat*x7 + x10
    t6 = x14 + x7*(2*n_mat - 1) + x9*(5*b + b_mask)  # inside_backward
    x79 = b*x20
    x86 = x20*(D*x47 + x38*(x48 + x85))
    x88 = x20*(D*(8*b + x45) + x85)
    t10 = x20  # microbatch_tokens
    x96 = t145**(-1.0)
    x23 = x22/x21
    x31 = L*x21
    t5 = x11 + x14  # inside_forward
    t7 = x11  # inside_recompute
    x80 = x79*(D*n_gather*n_sp*(1 - x38) + t20*x38)
    x83 = where(x49, x79*(x38*x82 + x81), x38*x79*(x81 + x82))
    x62 = t10*x38
    t44 = t10*(D*x13 + b_logit*n_vocab)  # head_activations
    t11 = ceil(x23)  # head_layers
    t15 = where(x32, 0, where(x34, x33, where(x35, x31, x33)))  # recomputed_flops
    x51 = t21*x50 + t5*x38
    t39 = x80 + where(x84, x83, where(x49, x38*x87 + x86, x38*(x87 + x88)))  # whole_layer
    t40 = x80 + where(x84, x83, where(x49, x86, x38*x88))  # coreless_layer
    x104 = x103*x62
    x117 = x12*x62
    t12 = n_virt*minimum(ceil(x26*(L + t11)), ceil(L*x25/maximum(1, x27)))  # stage_room
    t41 = (
        where(x32, t39, where(x34, x20*(b_kept*x38*(t19 + t4) + x89*(x13 + x46)), where(x35, x79*x89, t40)))
    )  # layer_kept
    t173 = (
        where(x37, 0, where(x108, alpha_1, alpha_2)) + where(x37, 0, where(x108, x117*x95, x117/minimum(t142,
        t143*x65)))
    )  # expected_hop
    x29 = t12 - x28
    t175 = (
        where(less(n_virt, 2), 2*t173*(x27 + ceil(x24*x27*(t9 - 2))), t173*(2*N_stages*n_virt - 2))
    )  # pipeline_exposed
    t13 = where(x30, t12 - x29*(2 - minimum(2, ceil(x23/maximum(1, x29)))), x28)  # stage_layers
    x36 = t13*x2
    x52 = t10*t13
    x57 = t13*(x54 + 3)
    x90 = t13**(-1.0)
    x107 = ops_attn*t13
    t14 = maximum(maximum(x22, x24*(x22 + x31)), t13*x21 + x22*where(x30, minimum(1, t12 - t13), 1))  # stage_flops
    t42 = t13*t38*x25  # flying_layers
    t45 = t13*t41 + t44*x38  # last_stage_activations
    t146 = where(less(Y, 2), 0, t13*x53*(3*n_sp + x54*(n_sp + 1) + 2))  # tp_calls
    t167 = t_head + t13*(Y*t_cross*minimum(1, x27)*where(x108, 0, 1) + t_host)  # microbatch_host_time
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
    t149 = where(less(n_cp, 2), 0, x57)  # cp_calls
    t43 = t41*t42  # flying_activations
    x41 = x39/Z
    x77 = x38*x39
    x64 = D*Z*x62*x63*(b + t1)*(x54 + 2)
    t152 = where(less(Z, 2), 0, x55*x63)  # ep_calls
    t166 = 6*F*n_mat*x104*x43*x63*(g_grp - 1)  # grouped_time
    x40 = x38*(t16 - x39)
    x73 = t16*x38
    t27 = t26*(1 - 1/maximum(1, x56))  # group_nvlink
    t28 = t26*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x59 = t29*x38
    t32 = f_hit*x64*(x61 - 1)/x61  # exchange_nvlink
    t33 = f_node*x64*(x66 - 1)/x66  # exchange_network
    x42 = x40 + x41
    x76 = x40*x75
    x99 = x40*(-Y/maximum(Y, x98) + 1) + x41*(-Z/maximum(Z, x98) + 1)
    x100 = x40*x56*(-x60/maximum(maximum(G, Y), x97) + 1) + x41*x61*(-maximum(G, Z)/maximum(maximum(G, Z), x97) + 1)
    x74 = x72*x73
    t148 = (
        t146*where(less_equal(t147, 1), alpha_1, alpha_2 + x94*(t147 - 2)) + maximum(t27*x95, t28*x96)
    )  # expected_level
    t30 = x59*(-Y/maximum(Y, minimum(G, x58)) + 1)  # group_nvlink
    t31 = x56*x59*(-x60/maximum(maximum(G, Y), x58) + 1)  # group_network
    t154 = (
        t152*where(less_equal(t153, 1), alpha_1, alpha_2 + x94*(t153 - 2)) + maximum(t32*x95, t33*x96)
    )  # expected_level
    t17 = x42  # stage_rank_params
    t36 = where(x68, t0*x42, where(x71, x40*x78 + x77*x78, x73*x78))  # dualpipe_state
    t155 = b_grad*x99  # dp_nvlink
    t159 = b_w*x99  # dp_nvlink
    t156 = b_grad*x100  # dp_network
    t160 = b_w*x100  # dp_network
    t34 = where(x68, x42*x67, where(x71, x40*x67 + x41*x67, x67*x74))  # dualpipe_state
    t35 = where(x68, x42*x75, where(x69, x41*x75 + x76, where(x70, x72*x75*x77 + x72*x76, x74*x75)))  # dualpipe_state
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x94*(t150 - 2)) + maximum(t30*x95, t31*x96)
    )  # expected_level
    x102 = t17*x101
    t46 = (
        t17*x90*where(x69, 0, where(x70, b_grad, b_grad + x67)) + where(x32, 0, where(x35, t39, t39 - t40))
    )  # working_memory
    t47 = V_fix + b_bucket*t17*minimum(1, x91)  # framework_memory
    t165 = (
        x101*(b_acc*t17 + b_loss*n_vocab*x62 + g_ker*(t24 + t25)) + x62*(x103*(3*t14 + x106 - 3*x107) + x107*(g_attn +
        1)/t141)
    )  # microbatch_gpu_time
    t178 = where(x70, maximum(1, b_w*t17/V_bucket), t13)  # dp_buckets
    t158 = maximum(t155*x95, t156*x96)  # expected_level
    t162 = maximum(t159*x95, t160*x96)  # expected_level
    t37 = t34 + t35 + t36  # replicated_state
    x105 = maximum(b_w*x102, t14*x104)
    t164 = t25*x101 + maximum(x102*(b_w + x75), x104*(2*t14 + x106))  # stage_backward
    t180 = b_upd*x102*where(x68, 1, x72) + t_fix  # update_time
    t168 = (
        t_far*t13*maximum(0, -G + Y)*where(x37, 1, x93) + maximum(t167, g_cp*t151 + g_ep*t154 + g_tp*t148 + t165 + t166)
    )  # expected_microbatch
    x111 = 2*t158
    t50 = t37 + t46 + t47 + maximum(t43, t45)  # gpu_memory
    t163 = t24*x101 + x105  # stage_forward
    t171 = x105  # stage_forward
    x110 = -t164
    x113 = -t164*x112
    t176 = where(x68, x111, where(x69, t158 + t162, where(x70, t158*t9 + t162, t9*(t158 + 2*t162))))  # dp_exchange
    x109 = t168/(t163 + t164)
    x115 = t162 - t163
    x114 = t158 + x110
    t169 = t163*x109  # forward_slot
    t170 = t164*x109  # backward_slot
    x116 = maximum(maximum(0, x115*x25), t162 - t163*x112)
    x119 = t170 - t171
    t172 = (
        where(x68, maximum(maximum(0, x111 + x113), x25*(x110 + x111)), where(x69, x116 + maximum(maximum(0, x114*x25),
        t158 + x113), where(x70, t9*maximum(0, x114) + x116, t9*(maximum(0, x115) + maximum(0, t162 + x114)))))
    )  # exposed_dp
    t174 = (
        x118*(t169 + x119 + maximum(t169, x119) - minimum(t171, x119)) - minimum(t169, x118*maximum(0, -t169 + t170 -
        t171))
    )  # dualpipe_bubble
    t179 = (
        alpha_dp*t177*t178*x91 + minimum(t176, g_dp*(-t172 + t176)*minimum(1, n_zero + x27) + n_edge*t176*x90 + t172)
    )  # expected_dp
    t181 = t168*t9 + t174 + t175 + t179 + t180  # expected_step
    return [t50, t37, t181]


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
    x67 = 2*b_w
    x68 = less(n_zero, 1)
    x69 = less(n_zero, 2)
    x70 = less(n_zero, 3)
    x75 = 2*b_grad
    t0 = b_master + 2*b_mom  # optimizer_bytes
    x81 = 4*D
    x84 = less(n_drop, 1)
    x91 = X*n_cp - 1
    x100 = W_hbm**(-1.0)
    x103 = C**(-1.0)
    x111 = W_node**(-1.0)
    x112 = W_nvl**(-1.0)
    x127 = greater_equal(G, N_gpu)
    x128 = (1/2)*N_stages - 1
    x132 = less(n_virt, 2)
    x133 = 2*N_stages*n_virt - 2
    x134 = 3*B
    x136 = N_gpu**(-1.0)
    t102 = W_hbm*eta_hbm  # reached_bandwidth
    t99 = C*eta  # reached_flops
    t100 = W_nvl*eta_1  # reached_bandwidth
    t101 = W_node*eta_2  # reached_bandwidth
    x162 = W_node*eta_net
    x164 = G*alpha_rank
    t142 = W_nvl*eta_nvl  # reached_bandwidth
    t140 = C*eta_mat  # reached_flops
    t141 = C*eta_attn  # reached_flops
    t38 = N_stages + 1  # dualpipe_held
    t182 = 6*B*P_act  # model_flops
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
    x72 = x17*x18
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
    x163 = Y*x65
    t144 = maximum(1, N_gpu*x65)  # run_nodes
    t150 = maximum(1, x58*x65)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    x107 = b_w + x75
    x135 = x134*(2*P_act + x33)
    x138 = ops_tok*x134
    x137 = x103*x136
    x139 = t102**(-1.0)
    x143 = t99**(-1.0)
    x149 = t100**(-1.0)
    x150 = t101**(-1.0)
    t143 = x162  # reached_bandwidth
    x165 = t142**(-1.0)
    x167 = t140**(-1.0)
    x175 = (g_attn + 1)/t141
    x14 = x12*x2*x4*(3*k + n_shared + 1) + where(less(n_pos, 1), x0*x13, 0)
    t3 = 2*x0  # kept_attention
    t4 = d_head*(n_q + x1)  # few_attention
    t8 = D*x16 + x2*(P_act - x15)  # mean_layer_matrices
    x7 = b*x6
    t20 = D*n_copy + n_wide*x6  # framework_elements
    t23 = x48  # norms_forward
    x94 = 2*t9
    x131 = 2*x27 + 2*ceil(x24*x27*(t9 - 2))
    t177 = where(x69, 1, where(x70, t9, 3*t9))  # dp_rounds
    x20 = S*x19
    x87 = S**2*n_q*x19*(b_mask + x13)
    x78 = t0*x72
    x28 = n_virt*ceil(L*x26)
    x55 = 2*x54 + 4
    t21 = D*(10*b + x46)  # between_forward
    t22 = D*(12*b + n_drop*x47)  # between_backward
    x89 = D*x50
    x96 = minimum(G, x95)
    t153 = x66  # spanned_nodes
    t147 = maximum(1, x163)  # spanned_nodes
    t145 = x162*maximum(1, (1/2)*t144)**(-gamma_net)  # many_nodes
    t85 = x135  # model_flops
    t126 = x135  # model_flops
    t97 = x138  # counted_flops
    t138 = x138  # counted_flops
    t204 = x138  # counted_flops
    t183 = t182*x136*x167  # mfu_step_time
    x82 = t18 + t3
    x21 = ops_attn + 2*t8
    x11 = n_mat*x7 + x10
    t6 = x14 + x7*(2*n_mat - 1) + x9*(5*b + b_mask)  # inside_backward
    t57 = b_grad*where(x68, 2, where(x69, 1, t9)) + b_w*where(x68, 0, where(x70, 1, x94))  # dp_passes
    x79 = b*x20
    x86 = x20*(D*x47 + x38*(x48 + x85))
    x88 = x20*(D*(8*b + x45) + x85)
    t10 = x20  # microbatch_tokens
    x166 = t145**(-1.0)
    t86 = t85*x137  # mfu_step_time
    t127 = t126*x136*x143  # mfu_step_time
    x23 = x22/x21
    x31 = L*x21
    t5 = x11 + x14  # inside_forward
    t7 = x11  # inside_recompute
    x80 = x79*(D*n_gather*n_sp*(1 - x38) + t20*x38)
    x83 = where(x49, x79*(x38*x82 + x81), x38*x79*(x81 + x82))
    x62 = t10*x38
    t44 = t10*(D*x13 + b_logit*n_vocab)  # head_activations
    t11 = ceil(x23)  # head_layers
    t15 = where(x32, 0, where(x34, x33, where(x35, x31, x33)))  # recomputed_flops
    x51 = t21*x50 + t5*x38
    t39 = x80 + where(x84, x83, where(x49, x38*x87 + x86, x38*(x87 + x88)))  # whole_layer
    t40 = x80 + where(x84, x83, where(x49, x86, x38*x88))  # coreless_layer
    x99 = x12*x62
    x104 = x103*x62
    x144 = x143*x62
    x168 = x167*x62
    x172 = b_loss*n_vocab*x62
    t12 = n_virt*minimum(ceil(x26*(L + t11)), ceil(L*x25/maximum(1, x27)))  # stage_room
    t41 = (
        where(x32, t39, where(x34, x20*(b_kept*x38*(t19 + t4) + x89*(x13 + x46)), where(x35, x79*x89, t40)))
    )  # layer_kept
    t60 = x99  # sharded_hop_bytes
    t78 = where(x37, 0, where(x127, x112*x99, x99/minimum(W_nvl, W_node*x65)))  # stage_hop
    t119 = where(x37, 0, where(x127, x149*x99, x99/minimum(t100, t101*x65)))  # stage_hop
    t173 = (
        where(x37, 0, where(x127, alpha_1, alpha_2)) + where(x37, 0, where(x127, x165*x99, x99/minimum(t142, t143*x65)))
    )  # expected_hop
    t192 = x139*x172  # microbatch_gpu_time
    x29 = t12 - x28
    t61 = where(x37, 0, n_virt*t60*x94)  # pipeline_bytes
    t80 = where(x132, t78*x131, t78*x133)  # pipeline_exposed
    t121 = where(x132, t119*x131, t119*x133)  # pipeline_exposed
    t175 = where(x132, t173*x131, t173*x133)  # pipeline_exposed
    t193 = t192*t9  # expected_step
    t13 = where(x30, t12 - x29*(2 - minimum(2, ceil(x23/maximum(1, x29)))), x28)  # stage_layers
    x36 = t13*x2
    x52 = t10*t13
    x57 = t13*(x54 + 3)
    x90 = t13**(-1.0)
    x173 = ops_attn*t13
    x176 = t_far*t13*maximum(0, -G + Y)*where(x37, 1, x163)
    t14 = maximum(maximum(x22, x24*(x22 + x31)), t13*x21 + x22*where(x30, minimum(1, t12 - t13), 1))  # stage_flops
    t42 = t13*t38*x25  # flying_layers
    t45 = t13*t41 + t44*x38  # last_stage_activations
    t146 = where(less(Y, 2), 0, t13*x53*(3*n_sp + x54*(n_sp + 1) + 2))  # tp_calls
    t167 = t_head + t13*(Y*t_cross*minimum(1, x27)*where(x127, 0, 1) + t_host)  # microbatch_host_time
    x39 = P_exp*x36
    x63 = x36*x4
    x108 = t15*x36
    t16 = t13*x16*(D + n_bias) + x15*where(x37, n_emb, 1) + x36*(P - n_emb*x15)  # stage_params
    t24 = x51*x52  # kernels_forward
    t25 = (
        x52*(t22*x50 + t6*x38 + where(x32, 0, where(x34, t23*x50 + t7*x38, where(x35, x51, x10*x38))))
    )  # kernels_backward
    t26 = x12*x52*x53*(n_sp + x55)  # tp_bytes
    t186 = ops_attn*x175*x38*x52  # microbatch_gpu_time
    t29 = S*b*d_head*n_seq*x1*x57  # cp_bytes
    t149 = where(less(n_cp, 2), 0, x57)  # cp_calls
    t43 = t41*t42  # flying_activations
    x41 = x39/Z
    x77 = x38*x39
    x64 = D*Z*x62*x63*(b + t1)*(x54 + 2)
    t152 = where(less(Z, 2), 0, x55*x63)  # ep_calls
    t166 = 6*F*n_mat*x168*x43*x63*(g_grp - 1)  # grouped_time
    x109 = 2*t14 + x108
    x174 = x167*(3*t14 + x108 - 3*x173)
    x40 = x38*(t16 - x39)
    x73 = t16*x38
    x101 = t24*x100
    x140 = t24*x139
    x106 = t25*x100
    x146 = t25*x139
    x171 = g_ker*(t24 + t25)
    t27 = t26*(1 - 1/maximum(1, x56))  # group_nvlink
    t28 = t26*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t187 = t186*t9  # expected_step
    x59 = t29*x38
    x92 = maximum(t43, t45)
    t32 = f_hit*x64*(x61 - 1)/x61  # exchange_nvlink
    t33 = f_node*x64*(x66 - 1)/x66  # exchange_network
    t188 = maximum(0, t166)  # expected_microbatch
    t184 = x174*x62  # microbatch_gpu_time
    x42 = x40 + x41
    x76 = x40*x75
    x97 = x40*(-Y/maximum(Y, x96) + 1) + x41*(-Z/maximum(Z, x96) + 1)
    x98 = x40*x56*(-x60/maximum(maximum(G, Y), x95) + 1) + x41*x61*(-maximum(G, Z)/maximum(maximum(G, Z), x95) + 1)
    x74 = x72*x73
    t83 = x101  # stage_forward
    t124 = x140  # stage_forward
    t84 = x106  # stage_backward
    t125 = x146  # stage_backward
    t190 = x139*x171  # microbatch_gpu_time
    t51 = t27*t9  # step_bytes
    t52 = t28*t9  # step_bytes
    t64 = maximum(t27*x112, t28*x111)  # level_time
    t105 = maximum(t27*x149, t28*x150)  # level_time
    t148 = (
        t146*where(less_equal(t147, 1), alpha_1, alpha_2 + x164*(t147 - 2)) + maximum(t27*x165, t28*x166)
    )  # expected_level
    t30 = x59*(-Y/maximum(Y, minimum(G, x58)) + 1)  # group_nvlink
    t31 = x56*x59*(-x60/maximum(maximum(G, Y), x58) + 1)  # group_network
    t48 = x92  # gpu_memory
    t55 = t32*t9  # step_bytes
    t56 = t33*t9  # step_bytes
    t66 = maximum(t32*x112, t33*x111)  # level_time
    t107 = maximum(t32*x149, t33*x150)  # level_time
    t154 = (
        t152*where(less_equal(t153, 1), alpha_1, alpha_2 + x164*(t153 - 2)) + maximum(t32*x165, t33*x166)
    )  # expected_level
    t189 = t188*t9  # expected_step
    t185 = t184*t9  # expected_step
    t17 = x42  # stage_rank_params
    t36 = where(x68, t0*x42, where(x71, x40*x78 + x77*x78, x73*x78))  # dualpipe_state
    x113 = b_grad*x97
    x115 = b_w*x97
    t58 = t57*x97  # dp_nvlink
    x114 = b_grad*x98
    x116 = b_w*x98
    t59 = t57*x98  # dp_network
    t34 = where(x68, x42*x67, where(x71, x40*x67 + x41*x67, x67*x74))  # dualpipe_state
    t35 = where(x68, x42*x75, where(x69, x41*x75 + x76, where(x70, x72*x75*x77 + x72*x76, x74*x75)))  # dualpipe_state
    t89 = t83 + t84  # microbatch_time
    t130 = t124 + t125  # microbatch_time
    t191 = t190*t9  # expected_step
    x117 = g_tp*t64
    x151 = g_tp*t105
    x177 = g_tp*t148
    t53 = t30*t9  # step_bytes
    t54 = t31*t9  # step_bytes
    t65 = maximum(t30*x112, t31*x111)  # level_time
    t106 = maximum(t30*x149, t31*x150)  # level_time
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x164*(t150 - 2)) + maximum(t30*x165, t31*x166)
    )  # expected_level
    x119 = g_ep*t66
    x153 = g_ep*t107
    x179 = g_ep*t154
    x102 = t17*x100
    x141 = t17*x139
    x170 = b_acc*t17
    t46 = (
        t17*x90*where(x69, 0, where(x70, b_grad, b_grad + x67)) + where(x32, 0, where(x35, t39, t39 - t40))
    )  # working_memory
    t47 = V_fix + b_bucket*t17*minimum(1, x91)  # framework_memory
    t178 = where(x70, maximum(1, b_w*t17/V_bucket), t13)  # dp_buckets
    t67 = x113  # dp_nvlink
    t108 = x113  # dp_nvlink
    t155 = x113  # dp_nvlink
    t70 = x115  # dp_nvlink
    t111 = x115  # dp_nvlink
    t159 = x115  # dp_nvlink
    t68 = x114  # dp_network
    t109 = x114  # dp_network
    t156 = x114  # dp_network
    t71 = x116  # dp_network
    t112 = x116  # dp_network
    t160 = x116  # dp_network
    t37 = t34 + t35 + t36  # replicated_state
    t90 = t89*t9  # step_sum
    t131 = t130*t9  # step_sum
    t91 = x117  # microbatch_time
    t132 = x151  # microbatch_time
    t196 = x176 + maximum(0, x177)  # expected_microbatch
    x118 = g_cp*t65
    x152 = g_cp*t106
    x178 = g_cp*t151
    t95 = x119  # microbatch_time
    t136 = x153  # microbatch_time
    t200 = maximum(0, x179)  # expected_microbatch
    x105 = maximum(b_w*x102, t14*x104)
    x110 = maximum(x102*x107, x104*x109)
    x142 = b_w*x141
    x147 = x107*x141
    t180 = b_upd*x141*where(x68, 1, x72) + t_fix  # update_time
    t165 = x139*(x170 + x171 + x172) + x62*(x173*x175 + x174)  # microbatch_gpu_time
    t194 = x139*x170  # microbatch_gpu_time
    x93 = t46 + t47
    t69 = maximum(t67*x112, t68*x111)  # level_time
    t110 = maximum(t108*x149, t109*x150)  # level_time
    t158 = maximum(t155*x165, t156*x166)  # expected_level
    t72 = maximum(t70*x112, t71*x111)  # level_time
    t113 = maximum(t111*x149, t112*x150)  # level_time
    t162 = maximum(t159*x165, t160*x166)  # expected_level
    t92 = t9*t91  # step_sum
    t133 = t132*t9  # step_sum
    t197 = t196*t9  # expected_step
    t93 = x118  # microbatch_time
    t134 = x152  # microbatch_time
    t198 = maximum(0, x178)  # expected_microbatch
    t96 = t9*t95  # step_sum
    t137 = t136*t9  # step_sum
    t201 = t200*t9  # expected_step
    t62 = x101 + x105  # stage_forward
    t74 = x105  # stage_forward
    t63 = x106 + x110  # stage_backward
    t82 = x110  # stage_backward
    x145 = maximum(x142, t14*x144)
    x169 = maximum(x142, t14*x168)
    x148 = maximum(x147, x109*x144)
    t164 = x146 + maximum(x147, x109*x168)  # stage_backward
    x180 = t165 + t166 + x177 + x178 + x179
    t195 = t194*t9  # expected_step
    t49 = x93  # gpu_memory
    t50 = t37 + x92 + x93  # gpu_memory
    x183 = 2*t158
    t94 = t9*t93  # step_sum
    t135 = t134*t9  # step_sum
    t199 = t198*t9  # expected_step
    x125 = -t62 + t72
    x120 = t62 + t63
    x123 = -t63*x122
    x124 = -t63 + t69
    t87 = t74 + t82  # microbatch_time
    t103 = x140 + x145  # stage_forward
    t115 = x145  # stage_forward
    t163 = x140 + x169  # stage_forward
    t171 = x169  # stage_forward
    t104 = x146 + x148  # stage_backward
    t123 = x148  # stage_backward
    x182 = -t164
    x184 = -t164*x122
    t168 = x176 + maximum(t167, x180)  # expected_microbatch
    t202 = maximum(0, t167 - x180)  # host_wait
    t176 = where(x68, x183, where(x69, t158 + t162, where(x70, t158*t9 + t162, t9*(t158 + 2*t162))))  # dp_exchange
    x126 = maximum(maximum(0, x125*x25), -t62*x122 + t72)
    t73 = x117 + x118 + x119 + x120  # microbatch_time
    t88 = t87*t9  # step_sum
    x158 = -t103 + t113
    x186 = t162 - t163
    x154 = t103 + t104
    x156 = -t104*x122
    x157 = -t104 + t110
    t128 = t115 + t123  # microbatch_time
    x185 = t158 + x182
    x181 = t168/(t163 + t164)
    t203 = t202*t9  # expected_step
    t77 = (
        where(x68, maximum(maximum(0, 2*t69 + x123), x25*(-t63 + 2*t69)), where(x69, x126 + maximum(maximum(0,
        x124*x25), t69 + x123), where(x70, t9*maximum(0, x124) + x126, t9*(maximum(0, x125) + maximum(0, -t63 + t69 +
        t72)))))
    )  # exposed_dp
    x121 = t73/x120
    x159 = maximum(maximum(0, x158*x25), -t103*x122 + t113)
    x187 = maximum(maximum(0, x186*x25), t162 - t163*x122)
    t114 = x151 + x152 + x153 + x154  # microbatch_time
    t129 = t128*t9  # step_sum
    t169 = t163*x181  # forward_slot
    t170 = t164*x181  # backward_slot
    t75 = t62*x121  # forward_slot
    t76 = t63*x121  # backward_slot
    t118 = (
        where(x68, maximum(maximum(0, 2*t110 + x156), x25*(-t104 + 2*t110)), where(x69, x159 + maximum(maximum(0,
        x157*x25), t110 + x156), where(x70, t9*maximum(0, x157) + x159, t9*(maximum(0, x158) + maximum(0, -t104 + t110 +
        t113)))))
    )  # exposed_dp
    t172 = (
        where(x68, maximum(maximum(0, x183 + x184), x25*(x182 + x183)), where(x69, x187 + maximum(maximum(0, x185*x25),
        t158 + x184), where(x70, t9*maximum(0, x185) + x187, t9*(maximum(0, x186) + maximum(0, t162 + x185)))))
    )  # exposed_dp
    x155 = t114/x154
    x188 = t170 - t171
    x129 = t74 - t76
    t179 = (
        alpha_dp*t177*t178*x91 + minimum(t176, g_dp*(-t172 + t176)*minimum(1, n_zero + x27) + n_edge*t176*x90 + t172)
    )  # expected_dp
    t116 = t103*x155  # forward_slot
    t117 = t104*x155  # backward_slot
    t174 = (
        x128*(t169 + x188 + maximum(t169, x188) - minimum(t171, x188)) - minimum(t169, x128*maximum(0, -t169 + t170 -
        t171))
    )  # dualpipe_bubble
    x130 = -x129
    x160 = t115 - t117
    t181 = t168*t9 + t174 + t175 + t179 + t180  # expected_step
    t79 = (
        x128*(-t74 + t75 + t76 + maximum(t75, x130) - minimum(t74, x130)) - minimum(t75, x128*maximum(0, -t75 - x129))
    )  # dualpipe_bubble
    x161 = -x160
    t205 = t204*x137/t181  # mfu
    t81 = t73*t9 + t77 + t79 + t80  # step_sum
    t120 = (
        x128*(-t115 + t116 + t117 + maximum(t116, x161) - minimum(t115, x161)) - minimum(t116, x128*maximum(0, -t116 -
        x160))
    )  # dualpipe_bubble
    t98 = t97*x137/t81  # mfu
    t122 = t114*t9 + t118 + t120 + t121  # step_sum
    t139 = t138*x137/t122  # mfu
    return [
        t9, t13, t34, t35, t36, t37, t48, t49, t50, t51, t52, t53, t54, t55, t56, t58, t59, t61, t86, t88, t90, t92,
        t94, t96, t77, t80, t79, t81, t98, t127, t129, t131, t133, t135, t137, t118, t121, t120, t122, t139, t183, t185,
        t187, t189, t191, t193, t195, t197, t199, t201, t203, t174, t175, t179, t180, t181, t205,
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
