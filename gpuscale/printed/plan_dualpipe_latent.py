"""Plans with the schedule dualpipe and latent attention; behind a line, the formula of gpuscale.llm that it ends.

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
    x68 = 2*b_w
    x69 = less(n_zero, 1)
    x70 = less(n_zero, 2)
    x71 = less(n_zero, 3)
    x76 = 2*b_grad
    t0 = b_master + 2*b_mom  # optimizer_bytes
    x82 = 4*D
    x85 = less(n_drop, 1)
    x92 = X*n_cp - 1
    x93 = W_node*eta_net
    x95 = G*alpha_rank
    t143 = W_nvl*eta_nvl  # reached_bandwidth
    t103 = W_hbm*eta_hbm  # reached_bandwidth
    t141 = C*eta_mat  # reached_flops
    x109 = greater_equal(G, N_gpu)
    x119 = (1/2)*N_stages - 1
    t39 = N_stages + 1  # dualpipe_held
    t142 = C*eta_attn  # reached_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x86 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x73 = x18*x19
    x27 = x25*x26
    x113 = x26*(N_stages*(n_virt - 1) + 1)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x98 = X*x59
    x67 = maximum(1, Z*x66)
    x94 = Y*x66
    t145 = maximum(1, N_gpu*x66)  # run_nodes
    t151 = maximum(1, x59*x66)  # spanned_nodes
    x72 = logical_or.reduce((x70,x71))
    t144 = x93  # reached_bandwidth
    x96 = t143**(-1.0)
    x102 = t103**(-1.0)
    x104 = t141**(-1.0)
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    t178 = where(x70, 1, where(x71, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x88 = S**2*n_q*x20*(b_mask + x6)
    x79 = t0*x73
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x83 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x90 = D*x51
    x99 = minimum(G, x98)
    t154 = x67  # spanned_nodes
    t148 = maximum(1, x94)  # spanned_nodes
    t146 = x93*maximum(1, (1/2)*t145)**(-gamma_net)  # many_nodes
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    x80 = b*x21
    x87 = x21*(D*x48 + x39*(x49 + x86))
    x89 = x21*(D*(8*b + x46) + x86)
    t11 = x21  # microbatch_tokens
    x97 = t146**(-1.0)
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x81 = x80*(D*n_gather*n_sp*(1 - x39) + t21*x39)
    x84 = where(x50, x80*(x39*x83 + x82), x39*x80*(x82 + x83))
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    t40 = x81 + where(x85, x84, where(x50, x39*x88 + x87, x39*(x88 + x89)))  # whole_layer
    t41 = x81 + where(x85, x84, where(x50, x87, x39*x89))  # coreless_layer
    x105 = x104*x63
    x118 = x4*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x90*(x47 + x6)), where(x36, x80*x90, t41)))
    )  # layer_kept
    t174 = (
        where(x38, 0, where(x109, alpha_1, alpha_2)) + where(x38, 0, where(x109, x118*x96, x118/minimum(t143,
        t144*x66)))
    )  # expected_hop
    x30 = t13 - x29
    t176 = (
        where(less(n_virt, 2), 2*t174*(x28 + ceil(x25*x28*(t10 - 2))), t174*(2*N_stages*n_virt - 2))
    )  # pipeline_exposed
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x91 = t14**(-1.0)
    x108 = ops_attn*t14
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t46 = t14*t42 + t45*x39  # last_stage_activations
    t147 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t168 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x109, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x107 = t16*x37
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
    x78 = x39*x40
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t153 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t167 = 6*F*n_mat*x105*x44*x64*(g_grp - 1)  # grouped_time
    x41 = x39*(t17 - x40)
    x74 = t17*x39
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x60 = t30*x39
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    x43 = x41 + x42
    x77 = x41*x76
    x100 = x41*(-Y/maximum(Y, x99) + 1) + x42*(-Z/maximum(Z, x99) + 1)
    x101 = x41*x57*(-x61/maximum(maximum(G, Y), x98) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x98) + 1)
    x75 = x73*x74
    t149 = (
        t147*where(less_equal(t148, 1), alpha_1, alpha_2 + x95*(t148 - 2)) + maximum(t28*x96, t29*x97)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t155 = (
        t153*where(less_equal(t154, 1), alpha_1, alpha_2 + x95*(t154 - 2)) + maximum(t33*x96, t34*x97)
    )  # expected_level
    t18 = x43  # stage_rank_params
    t37 = where(x69, t0*x43, where(x72, x41*x79 + x78*x79, x74*x79))  # dualpipe_state
    t156 = b_grad*x100  # dp_nvlink
    t160 = b_w*x100  # dp_nvlink
    t157 = b_grad*x101  # dp_network
    t161 = b_w*x101  # dp_network
    t35 = where(x69, x43*x68, where(x72, x41*x68 + x42*x68, x68*x75))  # dualpipe_state
    t36 = where(x69, x43*x76, where(x70, x42*x76 + x77, where(x71, x73*x76*x78 + x73*x77, x75*x76)))  # dualpipe_state
    t152 = (
        t150*where(less_equal(t151, 1), alpha_1, alpha_2 + x95*(t151 - 2)) + maximum(t31*x96, t32*x97)
    )  # expected_level
    x103 = t18*x102
    t47 = (
        t18*x91*where(x70, 0, where(x71, b_grad, b_grad + x68)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t48 = V_fix + b_bucket*t18*minimum(1, x92)  # framework_memory
    t166 = (
        x102*(b_acc*t18 + b_loss*n_vocab*x63 + g_ker*(t25 + t26)) + x63*(x104*(3*t15 + x107 - 3*x108) + x108*(g_attn +
        1)/t142)
    )  # microbatch_gpu_time
    t179 = where(x71, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t159 = maximum(t156*x96, t157*x97)  # expected_level
    t163 = maximum(t160*x96, t161*x97)  # expected_level
    t38 = t35 + t36 + t37  # replicated_state
    x106 = maximum(b_w*x103, t15*x105)
    t165 = t26*x102 + maximum(x103*(b_w + x76), x105*(2*t15 + x107))  # stage_backward
    t181 = b_upd*x103*where(x69, 1, x73) + t_fix  # update_time
    t169 = (
        t_far*t14*maximum(0, -G + Y)*where(x38, 1, x94) + maximum(t168, g_cp*t152 + g_ep*t155 + g_tp*t149 + t166 + t167)
    )  # expected_microbatch
    x112 = 2*t159
    t51 = t38 + t47 + t48 + maximum(t44, t46)  # gpu_memory
    t164 = t25*x102 + x106  # stage_forward
    t172 = x106  # stage_forward
    x111 = -t165
    x114 = -t165*x113
    t177 = where(x69, x112, where(x70, t159 + t163, where(x71, t10*t159 + t163, t10*(t159 + 2*t163))))  # dp_exchange
    x110 = t169/(t164 + t165)
    x116 = t163 - t164
    x115 = t159 + x111
    t170 = t164*x110  # forward_slot
    t171 = t165*x110  # backward_slot
    x117 = maximum(maximum(0, x116*x26), t163 - t164*x113)
    x120 = t171 - t172
    t173 = (
        where(x69, maximum(maximum(0, x112 + x114), x26*(x111 + x112)), where(x70, x117 + maximum(maximum(0, x115*x26),
        t159 + x114), where(x71, t10*maximum(0, x115) + x117, t10*(maximum(0, x116) + maximum(0, t163 + x115)))))
    )  # exposed_dp
    t175 = (
        x119*(t170 + x120 + maximum(t170, x120) - minimum(t172, x120)) - minimum(t170, x119*maximum(0, -t170 + t171 -
        t172))
    )  # dualpipe_bubble
    t180 = (
        alpha_dp*t178*t179*x92 + minimum(t177, g_dp*(-t173 + t177)*minimum(1, n_zero + x28) + n_edge*t177*x91 + t173)
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
    x68 = 2*b_w
    x69 = less(n_zero, 1)
    x70 = less(n_zero, 2)
    x71 = less(n_zero, 3)
    x76 = 2*b_grad
    t0 = b_master + 2*b_mom  # optimizer_bytes
    x82 = 4*D
    x85 = less(n_drop, 1)
    x92 = X*n_cp - 1
    x101 = W_hbm**(-1.0)
    x104 = C**(-1.0)
    x112 = W_node**(-1.0)
    x113 = W_nvl**(-1.0)
    x128 = greater_equal(G, N_gpu)
    x129 = (1/2)*N_stages - 1
    x133 = less(n_virt, 2)
    x134 = 2*N_stages*n_virt - 2
    x135 = 3*B
    x137 = N_gpu**(-1.0)
    t103 = W_hbm*eta_hbm  # reached_bandwidth
    t100 = C*eta  # reached_flops
    t101 = W_nvl*eta_1  # reached_bandwidth
    t102 = W_node*eta_2  # reached_bandwidth
    x163 = W_node*eta_net
    x165 = G*alpha_rank
    t143 = W_nvl*eta_nvl  # reached_bandwidth
    t141 = C*eta_mat  # reached_flops
    t142 = C*eta_attn  # reached_flops
    t39 = N_stages + 1  # dualpipe_held
    t183 = 6*B*P_act  # model_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x86 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x73 = x18*x19
    x27 = x25*x26
    x123 = x26*(N_stages*(n_virt - 1) + 1)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x96 = X*x59
    x67 = maximum(1, Z*x66)
    x164 = Y*x66
    t145 = maximum(1, N_gpu*x66)  # run_nodes
    t151 = maximum(1, x59*x66)  # spanned_nodes
    x72 = logical_or.reduce((x70,x71))
    x108 = b_w + x76
    x136 = x135*(2*P_act + x34)
    x139 = ops_tok*x135
    x138 = x104*x137
    x140 = t103**(-1.0)
    x144 = t100**(-1.0)
    x150 = t101**(-1.0)
    x151 = t102**(-1.0)
    t144 = x163  # reached_bandwidth
    x166 = t143**(-1.0)
    x168 = t141**(-1.0)
    x176 = (g_attn + 1)/t142
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    x95 = 2*t10
    x132 = 2*x28 + 2*ceil(x25*x28*(t10 - 2))
    t178 = where(x70, 1, where(x71, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x88 = S**2*n_q*x20*(b_mask + x6)
    x79 = t0*x73
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x83 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x90 = D*x51
    x97 = minimum(G, x96)
    t154 = x67  # spanned_nodes
    t148 = maximum(1, x164)  # spanned_nodes
    t146 = x163*maximum(1, (1/2)*t145)**(-gamma_net)  # many_nodes
    t86 = x136  # model_flops
    t127 = x136  # model_flops
    t98 = x139  # counted_flops
    t139 = x139  # counted_flops
    t205 = x139  # counted_flops
    t184 = t183*x137*x168  # mfu_step_time
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    t58 = b_grad*where(x69, 2, where(x70, 1, t10)) + b_w*where(x69, 0, where(x71, 1, x95))  # dp_passes
    x80 = b*x21
    x87 = x21*(D*x48 + x39*(x49 + x86))
    x89 = x21*(D*(8*b + x46) + x86)
    t11 = x21  # microbatch_tokens
    x167 = t146**(-1.0)
    t87 = t86*x138  # mfu_step_time
    t128 = t127*x137*x144  # mfu_step_time
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x81 = x80*(D*n_gather*n_sp*(1 - x39) + t21*x39)
    x84 = where(x50, x80*(x39*x83 + x82), x39*x80*(x82 + x83))
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    t40 = x81 + where(x85, x84, where(x50, x39*x88 + x87, x39*(x88 + x89)))  # whole_layer
    t41 = x81 + where(x85, x84, where(x50, x87, x39*x89))  # coreless_layer
    x100 = x4*x63
    x105 = x104*x63
    x145 = x144*x63
    x169 = x168*x63
    x173 = b_loss*n_vocab*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x90*(x47 + x6)), where(x36, x80*x90, t41)))
    )  # layer_kept
    t61 = x100  # sharded_hop_bytes
    t79 = where(x38, 0, where(x128, x100*x113, x100/minimum(W_nvl, W_node*x66)))  # stage_hop
    t120 = where(x38, 0, where(x128, x100*x150, x100/minimum(t101, t102*x66)))  # stage_hop
    t174 = (
        where(x38, 0, where(x128, alpha_1, alpha_2)) + where(x38, 0, where(x128, x100*x166, x100/minimum(t143,
        t144*x66)))
    )  # expected_hop
    t193 = x140*x173  # microbatch_gpu_time
    x30 = t13 - x29
    t62 = where(x38, 0, n_virt*t61*x95)  # pipeline_bytes
    t81 = where(x133, t79*x132, t79*x134)  # pipeline_exposed
    t122 = where(x133, t120*x132, t120*x134)  # pipeline_exposed
    t176 = where(x133, t174*x132, t174*x134)  # pipeline_exposed
    t194 = t10*t193  # expected_step
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x91 = t14**(-1.0)
    x174 = ops_attn*t14
    x177 = t_far*t14*maximum(0, -G + Y)*where(x38, 1, x164)
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t46 = t14*t42 + t45*x39  # last_stage_activations
    t147 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t168 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x128, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x109 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t187 = ops_attn*x176*x39*x53  # microbatch_gpu_time
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t150 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x78 = x39*x40
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t153 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t167 = 6*F*n_mat*x169*x44*x64*(g_grp - 1)  # grouped_time
    x110 = 2*t15 + x109
    x175 = x168*(3*t15 + x109 - 3*x174)
    x41 = x39*(t17 - x40)
    x74 = t17*x39
    x102 = t25*x101
    x141 = t25*x140
    x107 = t26*x101
    x147 = t26*x140
    x172 = g_ker*(t25 + t26)
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t188 = t10*t187  # expected_step
    x60 = t30*x39
    x93 = maximum(t44, t46)
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    t189 = maximum(0, t167)  # expected_microbatch
    t185 = x175*x63  # microbatch_gpu_time
    x43 = x41 + x42
    x77 = x41*x76
    x98 = x41*(-Y/maximum(Y, x97) + 1) + x42*(-Z/maximum(Z, x97) + 1)
    x99 = x41*x57*(-x61/maximum(maximum(G, Y), x96) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x96) + 1)
    x75 = x73*x74
    t84 = x102  # stage_forward
    t125 = x141  # stage_forward
    t85 = x107  # stage_backward
    t126 = x147  # stage_backward
    t191 = x140*x172  # microbatch_gpu_time
    t52 = t10*t28  # step_bytes
    t53 = t10*t29  # step_bytes
    t65 = maximum(t28*x113, t29*x112)  # level_time
    t106 = maximum(t28*x150, t29*x151)  # level_time
    t149 = (
        t147*where(less_equal(t148, 1), alpha_1, alpha_2 + x165*(t148 - 2)) + maximum(t28*x166, t29*x167)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t49 = x93  # gpu_memory
    t56 = t10*t33  # step_bytes
    t57 = t10*t34  # step_bytes
    t67 = maximum(t33*x113, t34*x112)  # level_time
    t108 = maximum(t33*x150, t34*x151)  # level_time
    t155 = (
        t153*where(less_equal(t154, 1), alpha_1, alpha_2 + x165*(t154 - 2)) + maximum(t33*x166, t34*x167)
    )  # expected_level
    t190 = t10*t189  # expected_step
    t186 = t10*t185  # expected_step
    t18 = x43  # stage_rank_params
    t37 = where(x69, t0*x43, where(x72, x41*x79 + x78*x79, x74*x79))  # dualpipe_state
    x114 = b_grad*x98
    x116 = b_w*x98
    t59 = t58*x98  # dp_nvlink
    x115 = b_grad*x99
    x117 = b_w*x99
    t60 = t58*x99  # dp_network
    t35 = where(x69, x43*x68, where(x72, x41*x68 + x42*x68, x68*x75))  # dualpipe_state
    t36 = where(x69, x43*x76, where(x70, x42*x76 + x77, where(x71, x73*x76*x78 + x73*x77, x75*x76)))  # dualpipe_state
    t90 = t84 + t85  # microbatch_time
    t131 = t125 + t126  # microbatch_time
    t192 = t10*t191  # expected_step
    x118 = g_tp*t65
    x152 = g_tp*t106
    x178 = g_tp*t149
    t54 = t10*t31  # step_bytes
    t55 = t10*t32  # step_bytes
    t66 = maximum(t31*x113, t32*x112)  # level_time
    t107 = maximum(t31*x150, t32*x151)  # level_time
    t152 = (
        t150*where(less_equal(t151, 1), alpha_1, alpha_2 + x165*(t151 - 2)) + maximum(t31*x166, t32*x167)
    )  # expected_level
    x120 = g_ep*t67
    x154 = g_ep*t108
    x180 = g_ep*t155
    x103 = t18*x101
    x142 = t18*x140
    x171 = b_acc*t18
    t47 = (
        t18*x91*where(x70, 0, where(x71, b_grad, b_grad + x68)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t48 = V_fix + b_bucket*t18*minimum(1, x92)  # framework_memory
    t179 = where(x71, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t68 = x114  # dp_nvlink
    t109 = x114  # dp_nvlink
    t156 = x114  # dp_nvlink
    t71 = x116  # dp_nvlink
    t112 = x116  # dp_nvlink
    t160 = x116  # dp_nvlink
    t69 = x115  # dp_network
    t110 = x115  # dp_network
    t157 = x115  # dp_network
    t72 = x117  # dp_network
    t113 = x117  # dp_network
    t161 = x117  # dp_network
    t38 = t35 + t36 + t37  # replicated_state
    t91 = t10*t90  # step_sum
    t132 = t10*t131  # step_sum
    t92 = x118  # microbatch_time
    t133 = x152  # microbatch_time
    t197 = x177 + maximum(0, x178)  # expected_microbatch
    x119 = g_cp*t66
    x153 = g_cp*t107
    x179 = g_cp*t152
    t96 = x120  # microbatch_time
    t137 = x154  # microbatch_time
    t201 = maximum(0, x180)  # expected_microbatch
    x106 = maximum(b_w*x103, t15*x105)
    x111 = maximum(x103*x108, x105*x110)
    x143 = b_w*x142
    x148 = x108*x142
    t181 = b_upd*x142*where(x69, 1, x73) + t_fix  # update_time
    t166 = x140*(x171 + x172 + x173) + x63*(x174*x176 + x175)  # microbatch_gpu_time
    t195 = x140*x171  # microbatch_gpu_time
    x94 = t47 + t48
    t70 = maximum(t68*x113, t69*x112)  # level_time
    t111 = maximum(t109*x150, t110*x151)  # level_time
    t159 = maximum(t156*x166, t157*x167)  # expected_level
    t73 = maximum(t71*x113, t72*x112)  # level_time
    t114 = maximum(t112*x150, t113*x151)  # level_time
    t163 = maximum(t160*x166, t161*x167)  # expected_level
    t93 = t10*t92  # step_sum
    t134 = t10*t133  # step_sum
    t198 = t10*t197  # expected_step
    t94 = x119  # microbatch_time
    t135 = x153  # microbatch_time
    t199 = maximum(0, x179)  # expected_microbatch
    t97 = t10*t96  # step_sum
    t138 = t10*t137  # step_sum
    t202 = t10*t201  # expected_step
    t63 = x102 + x106  # stage_forward
    t75 = x106  # stage_forward
    t64 = x107 + x111  # stage_backward
    t83 = x111  # stage_backward
    x146 = maximum(x143, t15*x145)
    x170 = maximum(x143, t15*x169)
    x149 = maximum(x148, x110*x145)
    t165 = x147 + maximum(x148, x110*x169)  # stage_backward
    x181 = t166 + t167 + x178 + x179 + x180
    t196 = t10*t195  # expected_step
    t50 = x94  # gpu_memory
    t51 = t38 + x93 + x94  # gpu_memory
    x184 = 2*t159
    t95 = t10*t94  # step_sum
    t136 = t10*t135  # step_sum
    t200 = t10*t199  # expected_step
    x126 = -t63 + t73
    x121 = t63 + t64
    x124 = -t64*x123
    x125 = -t64 + t70
    t88 = t75 + t83  # microbatch_time
    t104 = x141 + x146  # stage_forward
    t116 = x146  # stage_forward
    t164 = x141 + x170  # stage_forward
    t172 = x170  # stage_forward
    t105 = x147 + x149  # stage_backward
    t124 = x149  # stage_backward
    x183 = -t165
    x185 = -t165*x123
    t169 = x177 + maximum(t168, x181)  # expected_microbatch
    t203 = maximum(0, t168 - x181)  # host_wait
    t177 = where(x69, x184, where(x70, t159 + t163, where(x71, t10*t159 + t163, t10*(t159 + 2*t163))))  # dp_exchange
    x127 = maximum(maximum(0, x126*x26), -t63*x123 + t73)
    t74 = x118 + x119 + x120 + x121  # microbatch_time
    t89 = t10*t88  # step_sum
    x159 = -t104 + t114
    x187 = t163 - t164
    x155 = t104 + t105
    x157 = -t105*x123
    x158 = -t105 + t111
    t129 = t116 + t124  # microbatch_time
    x186 = t159 + x183
    x182 = t169/(t164 + t165)
    t204 = t10*t203  # expected_step
    t78 = (
        where(x69, maximum(maximum(0, 2*t70 + x124), x26*(-t64 + 2*t70)), where(x70, x127 + maximum(maximum(0,
        x125*x26), t70 + x124), where(x71, t10*maximum(0, x125) + x127, t10*(maximum(0, x126) + maximum(0, -t64 + t70 +
        t73)))))
    )  # exposed_dp
    x122 = t74/x121
    x160 = maximum(maximum(0, x159*x26), -t104*x123 + t114)
    x188 = maximum(maximum(0, x187*x26), t163 - t164*x123)
    t115 = x152 + x153 + x154 + x155  # microbatch_time
    t130 = t10*t129  # step_sum
    t170 = t164*x182  # forward_slot
    t171 = t165*x182  # backward_slot
    t76 = t63*x122  # forward_slot
    t77 = t64*x122  # backward_slot
    t119 = (
        where(x69, maximum(maximum(0, 2*t111 + x157), x26*(-t105 + 2*t111)), where(x70, x160 + maximum(maximum(0,
        x158*x26), t111 + x157), where(x71, t10*maximum(0, x158) + x160, t10*(maximum(0, x159) + maximum(0, -t105 + t111
        + t114)))))
    )  # exposed_dp
    t173 = (
        where(x69, maximum(maximum(0, x184 + x185), x26*(x183 + x184)), where(x70, x188 + maximum(maximum(0, x186*x26),
        t159 + x185), where(x71, t10*maximum(0, x186) + x188, t10*(maximum(0, x187) + maximum(0, t163 + x186)))))
    )  # exposed_dp
    x156 = t115/x155
    x189 = t171 - t172
    x130 = t75 - t77
    t180 = (
        alpha_dp*t178*t179*x92 + minimum(t177, g_dp*(-t173 + t177)*minimum(1, n_zero + x28) + n_edge*t177*x91 + t173)
    )  # expected_dp
    t117 = t104*x156  # forward_slot
    t118 = t105*x156  # backward_slot
    t175 = (
        x129*(t170 + x189 + maximum(t170, x189) - minimum(t172, x189)) - minimum(t170, x129*maximum(0, -t170 + t171 -
        t172))
    )  # dualpipe_bubble
    x131 = -x130
    x161 = t116 - t118
    t182 = t10*t169 + t175 + t176 + t180 + t181  # expected_step
    t80 = (
        x129*(-t75 + t76 + t77 + maximum(t76, x131) - minimum(t75, x131)) - minimum(t76, x129*maximum(0, -t76 - x130))
    )  # dualpipe_bubble
    x162 = -x161
    t206 = t205*x138/t182  # mfu
    t82 = t10*t74 + t78 + t80 + t81  # step_sum
    t121 = (
        x129*(-t116 + t117 + t118 + maximum(t117, x162) - minimum(t116, x162)) - minimum(t117, x129*maximum(0, -t117 -
        x161))
    )  # dualpipe_bubble
    t99 = t98*x138/t82  # mfu
    t123 = t10*t115 + t119 + t121 + t122  # step_sum
    t140 = t139*x138/t123  # mfu
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
