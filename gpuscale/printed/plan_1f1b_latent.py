"""Plans with the schedule 1f1b and latent attention; behind a line, the formula of gpuscale.llm that it ends.

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
    x77 = less(n_virt, 2)
    x80 = 4*D
    x83 = less(n_drop, 1)
    x90 = X*n_cp - 1
    x91 = W_node*eta_net
    x93 = G*alpha_rank
    t139 = W_nvl*eta_nvl  # reached_bandwidth
    t101 = W_hbm*eta_hbm  # reached_bandwidth
    t137 = C*eta_mat  # reached_flops
    x106 = greater_equal(G, N_gpu)
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t138 = C*eta_attn  # reached_flops
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
    x109 = x26*(N_stages*(n_virt - 1) + 1)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x96 = X*x59
    x67 = maximum(1, Z*x66)
    x92 = Y*x66
    t141 = maximum(1, N_gpu*x66)  # run_nodes
    t147 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    t140 = x91  # reached_bandwidth
    x94 = t139**(-1.0)
    x100 = t101**(-1.0)
    x102 = t137**(-1.0)
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    t39 = where(x77, minimum(N_stages, t10), minimum(n_virt*t10, N_stages*(n_virt + 1) - 1))  # first_stage_held
    t171 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x86 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x81 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x88 = D*x51
    x97 = minimum(G, x96)
    t150 = x67  # spanned_nodes
    t144 = maximum(1, x92)  # spanned_nodes
    t142 = x91*maximum(1, (1/2)*t141)**(-gamma_net)  # many_nodes
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    x78 = b*x21
    x85 = x21*(D*x48 + x39*(x49 + x84))
    x87 = x21*(D*(8*b + x46) + x84)
    t11 = x21  # microbatch_tokens
    x95 = t142**(-1.0)
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x79 = x78*(D*n_gather*n_sp*(1 - x39) + t21*x39)
    x82 = where(x50, x78*(x39*x81 + x80), x39*x78*(x80 + x81))
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    t40 = x79 + where(x83, x82, where(x50, x39*x86 + x85, x39*(x86 + x87)))  # whole_layer
    t41 = x79 + where(x83, x82, where(x50, x85, x39*x87))  # coreless_layer
    x103 = x102*x63
    x114 = x4*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x88*(x47 + x6)), where(x36, x78*x88, t41)))
    )  # layer_kept
    t167 = (
        where(x38, 0, where(x106, alpha_1, alpha_2)) + where(x38, 0, where(x106, x114*x94, x114/minimum(t139,
        t140*x66)))
    )  # expected_hop
    x30 = t13 - x29
    t169 = where(x77, 2*t167*(x28 + ceil(x25*x28*(t10 - 2))), t167*(2*N_stages*n_virt - 2))  # pipeline_exposed
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x89 = t14**(-1.0)
    x105 = ops_attn*t14
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t46 = t14*t42 + t45*x39  # last_stage_activations
    t143 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t164 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x106, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x104 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t146 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t149 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t163 = 6*F*n_mat*x103*x44*x64*(g_grp - 1)  # grouped_time
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x60 = t30*x39
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    x43 = x41 + x42
    x75 = b_grad*x41
    x98 = x41*(-Y/maximum(Y, x97) + 1) + x42*(-Z/maximum(Z, x97) + 1)
    x99 = x41*x57*(-x61/maximum(maximum(G, Y), x96) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x96) + 1)
    t145 = (
        t143*where(less_equal(t144, 1), alpha_1, alpha_2 + x93*(t144 - 2)) + maximum(t28*x94, t29*x95)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x93*(t150 - 2)) + maximum(t33*x94, t34*x95)
    )  # expected_level
    t18 = x43  # stage_rank_params
    t35 = where(x68, b_w*x43, where(x71, b_w*x41 + b_w*x42, b_w*x74))  # stage_state
    t37 = where(x68, t0*x43, where(x71, t0*x41*x72 + t0*x76, t0*x74))  # stage_state
    t36 = (
        where(x68, b_grad*x43, where(x69, b_grad*x42 + x75, where(x70, b_grad*x76 + x72*x75, b_grad*x74)))
    )  # stage_state
    t152 = b_grad*x98  # dp_nvlink
    t156 = b_w*x98  # dp_nvlink
    t153 = b_grad*x99  # dp_network
    t157 = b_w*x99  # dp_network
    t148 = (
        t146*where(less_equal(t147, 1), alpha_1, alpha_2 + x93*(t147 - 2)) + maximum(t31*x94, t32*x95)
    )  # expected_level
    x101 = t18*x100
    t47 = (
        t18*x89*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t48 = V_fix + b_bucket*t18*minimum(1, x90)  # framework_memory
    t162 = (
        x100*(b_acc*t18 + b_loss*n_vocab*x63 + g_ker*(t25 + t26)) + x63*(x102*(3*t15 + x104 - 3*x105) + x105*(g_attn +
        1)/t138)
    )  # microbatch_gpu_time
    t172 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t155 = maximum(t152*x94, t153*x95)  # expected_level
    t159 = maximum(t156*x94, t157*x95)  # expected_level
    t160 = t25*x100 + maximum(b_w*x101, t15*x103)  # stage_forward
    t161 = t26*x100 + maximum(x101*(2*b_grad + b_w), x103*(2*t15 + x104))  # stage_backward
    t174 = b_upd*x101*where(x68, 1, x72) + t_fix  # update_time
    t165 = (
        t_far*t14*maximum(0, -G + Y)*where(x38, 1, x92) + maximum(t164, g_cp*t148 + g_ep*t151 + g_tp*t145 + t162 + t163)
    )  # expected_microbatch
    t51 = t38 + t47 + t48 + maximum(t44, t46)  # gpu_memory
    x108 = 2*t155
    x112 = t159 - t160
    x107 = -t161
    x110 = -t161*x109
    t168 = t165*x26*x28  # interleaved_bubble
    t170 = where(x68, x108, where(x69, t155 + t159, where(x70, t10*t155 + t159, t10*(t155 + 2*t159))))  # dp_exchange
    x113 = maximum(maximum(0, x112*x26), t159 - t160*x109)
    x111 = t155 + x107
    t166 = (
        where(x68, maximum(maximum(0, x108 + x110), x26*(x107 + x108)), where(x69, x113 + maximum(maximum(0, x111*x26),
        t155 + x110), where(x70, t10*maximum(0, x111) + x113, t10*(maximum(0, x112) + maximum(0, t159 + x111)))))
    )  # exposed_dp
    t173 = (
        alpha_dp*t171*t172*x90 + minimum(t170, g_dp*(-t166 + t170)*minimum(1, n_zero + x28) + n_edge*t170*x89 + t166)
    )  # expected_dp
    t175 = t10*t165 + t168 + t169 + t173 + t174  # expected_step
    return [t51, t38, t175]


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
    x77 = less(n_virt, 2)
    x81 = 4*D
    x84 = less(n_drop, 1)
    x91 = X*n_cp - 1
    x99 = W_hbm**(-1.0)
    x102 = C**(-1.0)
    x106 = 2*b_grad + b_w
    x110 = W_node**(-1.0)
    x111 = W_nvl**(-1.0)
    x124 = greater_equal(G, N_gpu)
    x127 = 2*N_stages*n_virt - 2
    x128 = 3*B
    x130 = N_gpu**(-1.0)
    t101 = W_hbm*eta_hbm  # reached_bandwidth
    t98 = C*eta  # reached_flops
    t100 = W_node*eta_2  # reached_bandwidth
    t99 = W_nvl*eta_1  # reached_bandwidth
    x152 = W_node*eta_net
    x154 = G*alpha_rank
    t139 = W_nvl*eta_nvl  # reached_bandwidth
    t137 = C*eta_mat  # reached_flops
    t138 = C*eta_attn  # reached_flops
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t176 = 6*B*P_act  # model_flops
    t3 = d_rope + 2*n_q*(d_v + x0) + 2*r_kv + 2*r_q  # kept_latent_attention
    t5 = n_q*(r_kv*(d_nope + d_v) + x0*where(less(r_q, 1), D, r_q))  # latent_up_params
    t4 = d_rope + x1  # few_latent_attention
    x54 = L_dense*x2 + 1
    x5 = x2*x3*x4*(3*k + n_shared + 1)
    x14 = where(less(n_pos, 1), d_rope*x6*(n_q + 1), 0)
    x85 = F*x6
    x9 = x2*(x3*x8 + x7)
    x49 = D*x11
    x13 = x12*(b_mask + x11)
    x23 = 2*x16
    x17 = 2*d_head*(-n_kv + t2)
    t10 = B*x18/(S*n_seq)  # microbatches
    x20 = n_seq*x19
    x72 = x18*x19
    x27 = x25*x26
    x119 = x26*(N_stages*(n_virt - 1) + 1)
    x125 = x26*x28
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x94 = X*x59
    x67 = maximum(1, Z*x66)
    x153 = Y*x66
    t141 = maximum(1, N_gpu*x66)  # run_nodes
    t147 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    x129 = x128*(2*P_act + x34)
    x132 = ops_tok*x128
    x131 = x102*x130
    x133 = t101**(-1.0)
    x137 = t98**(-1.0)
    x143 = t100**(-1.0)
    x144 = t99**(-1.0)
    t140 = x152  # reached_bandwidth
    x155 = t139**(-1.0)
    x157 = t137**(-1.0)
    x164 = (g_attn + 1)/t138
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    x78 = n_virt*t10
    x126 = 2*x28 + 2*ceil(x25*x28*(t10 - 2))
    t58 = b_grad*where(x68, 2, where(x69, 1, t10)) + b_w*where(x68, 0, where(x70, 1, 2*t10))  # dp_passes
    t171 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x87 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x82 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x89 = D*x51
    x95 = minimum(G, x94)
    t150 = x67  # spanned_nodes
    t144 = maximum(1, x153)  # spanned_nodes
    t142 = x152*maximum(1, (1/2)*t141)**(-gamma_net)  # many_nodes
    t84 = x129  # model_flops
    t123 = x129  # model_flops
    t96 = x132  # counted_flops
    t135 = x132  # counted_flops
    t198 = x132  # counted_flops
    t177 = t176*x130*x157  # mfu_step_time
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    t39 = where(x77, minimum(N_stages, t10), minimum(x78, N_stages*(n_virt + 1) - 1))  # first_stage_held
    x79 = b*x21
    x86 = x21*(D*x48 + x39*(x49 + x85))
    x88 = x21*(D*(8*b + x46) + x85)
    t11 = x21  # microbatch_tokens
    x156 = t142**(-1.0)
    t85 = t84*x131  # mfu_step_time
    t124 = t123*x130*x137  # mfu_step_time
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x80 = x79*(D*n_gather*n_sp*(1 - x39) + t21*x39)
    x83 = where(x50, x79*(x39*x82 + x81), x39*x79*(x81 + x82))
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    t40 = x80 + where(x84, x83, where(x50, x39*x87 + x86, x39*(x87 + x88)))  # whole_layer
    t41 = x80 + where(x84, x83, where(x50, x86, x39*x88))  # coreless_layer
    x98 = x4*x63
    x103 = x102*x63
    x138 = x137*x63
    x158 = x157*x63
    x161 = b_loss*n_vocab*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x89*(x47 + x6)), where(x36, x79*x89, t41)))
    )  # layer_kept
    t61 = x98  # sharded_hop_bytes
    t77 = where(x38, 0, where(x124, x111*x98, x98/minimum(W_nvl, W_node*x66)))  # stage_hop
    t116 = where(x38, 0, where(x124, x144*x98, x98/minimum(t99, t100*x66)))  # stage_hop
    t167 = (
        where(x38, 0, where(x124, alpha_1, alpha_2)) + where(x38, 0, where(x124, x155*x98, x98/minimum(t139, t140*x66)))
    )  # expected_hop
    t186 = x133*x161  # microbatch_gpu_time
    x30 = t13 - x29
    t62 = where(x38, 0, 2*t61*x78)  # pipeline_bytes
    t79 = where(x77, t77*x126, t77*x127)  # pipeline_exposed
    t118 = where(x77, t116*x126, t116*x127)  # pipeline_exposed
    t169 = where(x77, t167*x126, t167*x127)  # pipeline_exposed
    t187 = t10*t186  # expected_step
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x90 = t14**(-1.0)
    x162 = ops_attn*t14
    x165 = t_far*t14*maximum(0, -G + Y)*where(x38, 1, x153)
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t46 = t14*t42 + t45*x39  # last_stage_activations
    t143 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t164 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x124, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x107 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t180 = ops_attn*x164*x39*x53  # microbatch_gpu_time
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t146 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t149 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t163 = 6*F*n_mat*x158*x44*x64*(g_grp - 1)  # grouped_time
    x108 = 2*t15 + x107
    x163 = x157*(3*t15 + x107 - 3*x162)
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    x100 = t25*x99
    x134 = t25*x133
    x105 = t26*x99
    x140 = t26*x133
    x160 = g_ker*(t25 + t26)
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t181 = t10*t180  # expected_step
    x60 = t30*x39
    x92 = maximum(t44, t46)
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    t182 = maximum(0, t163)  # expected_microbatch
    t178 = x163*x63  # microbatch_gpu_time
    x43 = x41 + x42
    x75 = b_grad*x41
    x96 = x41*(-Y/maximum(Y, x95) + 1) + x42*(-Z/maximum(Z, x95) + 1)
    x97 = x41*x57*(-x61/maximum(maximum(G, Y), x94) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x94) + 1)
    t82 = x100  # stage_forward
    t121 = x134  # stage_forward
    t83 = x105  # stage_backward
    t122 = x140  # stage_backward
    t184 = x133*x160  # microbatch_gpu_time
    t52 = t10*t28  # step_bytes
    t53 = t10*t29  # step_bytes
    t65 = maximum(t28*x111, t29*x110)  # level_time
    t104 = maximum(t28*x144, t29*x143)  # level_time
    t145 = (
        t143*where(less_equal(t144, 1), alpha_1, alpha_2 + x154*(t144 - 2)) + maximum(t28*x155, t29*x156)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t49 = x92  # gpu_memory
    t56 = t10*t33  # step_bytes
    t57 = t10*t34  # step_bytes
    t67 = maximum(t33*x111, t34*x110)  # level_time
    t106 = maximum(t33*x144, t34*x143)  # level_time
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x154*(t150 - 2)) + maximum(t33*x155, t34*x156)
    )  # expected_level
    t183 = t10*t182  # expected_step
    t179 = t10*t178  # expected_step
    t18 = x43  # stage_rank_params
    t35 = where(x68, b_w*x43, where(x71, b_w*x41 + b_w*x42, b_w*x74))  # stage_state
    t37 = where(x68, t0*x43, where(x71, t0*x41*x72 + t0*x76, t0*x74))  # stage_state
    t36 = (
        where(x68, b_grad*x43, where(x69, b_grad*x42 + x75, where(x70, b_grad*x76 + x72*x75, b_grad*x74)))
    )  # stage_state
    x112 = b_grad*x96
    x114 = b_w*x96
    t59 = t58*x96  # dp_nvlink
    x113 = b_grad*x97
    x115 = b_w*x97
    t60 = t58*x97  # dp_network
    t88 = t82 + t83  # microbatch_time
    t127 = t121 + t122  # microbatch_time
    t185 = t10*t184  # expected_step
    x116 = g_tp*t65
    x145 = g_tp*t104
    x166 = g_tp*t145
    t54 = t10*t31  # step_bytes
    t55 = t10*t32  # step_bytes
    t66 = maximum(t31*x111, t32*x110)  # level_time
    t105 = maximum(t31*x144, t32*x143)  # level_time
    t148 = (
        t146*where(less_equal(t147, 1), alpha_1, alpha_2 + x154*(t147 - 2)) + maximum(t31*x155, t32*x156)
    )  # expected_level
    x118 = g_ep*t67
    x147 = g_ep*t106
    x168 = g_ep*t151
    x101 = t18*x99
    x135 = t18*x133
    x159 = b_acc*t18
    t47 = (
        t18*x90*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t48 = V_fix + b_bucket*t18*minimum(1, x91)  # framework_memory
    t172 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t68 = x112  # dp_nvlink
    t107 = x112  # dp_nvlink
    t152 = x112  # dp_nvlink
    t71 = x114  # dp_nvlink
    t110 = x114  # dp_nvlink
    t156 = x114  # dp_nvlink
    t69 = x113  # dp_network
    t108 = x113  # dp_network
    t153 = x113  # dp_network
    t72 = x115  # dp_network
    t111 = x115  # dp_network
    t157 = x115  # dp_network
    t89 = t10*t88  # step_sum
    t128 = t10*t127  # step_sum
    t90 = x116  # microbatch_time
    t129 = x145  # microbatch_time
    t190 = x165 + maximum(0, x166)  # expected_microbatch
    x117 = g_cp*t66
    x146 = g_cp*t105
    x167 = g_cp*t148
    t94 = x118  # microbatch_time
    t133 = x147  # microbatch_time
    t194 = maximum(0, x168)  # expected_microbatch
    x104 = maximum(b_w*x101, t15*x103)
    x109 = maximum(x101*x106, x103*x108)
    x136 = b_w*x135
    x141 = x106*x135
    t174 = b_upd*x135*where(x68, 1, x72) + t_fix  # update_time
    t162 = x133*(x159 + x160 + x161) + x63*(x162*x164 + x163)  # microbatch_gpu_time
    t188 = x133*x159  # microbatch_gpu_time
    x93 = t47 + t48
    t70 = maximum(t68*x111, t69*x110)  # level_time
    t109 = maximum(t107*x144, t108*x143)  # level_time
    t155 = maximum(t152*x155, t153*x156)  # expected_level
    t73 = maximum(t71*x111, t72*x110)  # level_time
    t112 = maximum(t110*x144, t111*x143)  # level_time
    t159 = maximum(t156*x155, t157*x156)  # expected_level
    t91 = t10*t90  # step_sum
    t130 = t10*t129  # step_sum
    t191 = t10*t190  # expected_step
    t92 = x117  # microbatch_time
    t131 = x146  # microbatch_time
    t192 = maximum(0, x167)  # expected_microbatch
    t95 = t10*t94  # step_sum
    t134 = t10*t133  # step_sum
    t195 = t10*t194  # expected_step
    t63 = x100 + x104  # stage_forward
    t75 = x104  # stage_forward
    t64 = x105 + x109  # stage_backward
    t81 = x109  # stage_backward
    x139 = maximum(x136, t15*x138)
    t160 = x134 + maximum(x136, t15*x158)  # stage_forward
    x142 = maximum(x141, x108*x138)
    t161 = x140 + maximum(x141, x108*x158)  # stage_backward
    x169 = t162 + t163 + x166 + x167 + x168
    t189 = t10*t188  # expected_step
    t50 = x93  # gpu_memory
    t51 = t38 + x92 + x93  # gpu_memory
    x171 = 2*t155
    t93 = t10*t92  # step_sum
    t132 = t10*t131  # step_sum
    t193 = t10*t192  # expected_step
    x122 = -t63 + t73
    x120 = -t64*x119
    x121 = -t64 + t70
    t74 = t63 + t64 + x116 + x117 + x118  # microbatch_time
    t86 = t75 + t81  # microbatch_time
    t102 = x134 + x139  # stage_forward
    t114 = x139  # stage_forward
    x174 = t159 - t160
    t103 = x140 + x142  # stage_backward
    t120 = x142  # stage_backward
    x170 = -t161
    x172 = -t161*x119
    t165 = x165 + maximum(t164, x169)  # expected_microbatch
    t196 = maximum(0, t164 - x169)  # host_wait
    t170 = where(x68, x171, where(x69, t155 + t159, where(x70, t10*t155 + t159, t10*(t155 + 2*t159))))  # dp_exchange
    x123 = maximum(maximum(0, x122*x26), -t63*x119 + t73)
    t78 = t74*x125  # interleaved_bubble
    t87 = t10*t86  # step_sum
    x150 = -t102 + t112
    x175 = maximum(maximum(0, x174*x26), t159 - t160*x119)
    x148 = -t103*x119
    x149 = -t103 + t109
    t113 = t102 + t103 + x145 + x146 + x147  # microbatch_time
    t125 = t114 + t120  # microbatch_time
    x173 = t155 + x170
    t168 = t165*x125  # interleaved_bubble
    t197 = t10*t196  # expected_step
    t76 = (
        where(x68, maximum(maximum(0, 2*t70 + x120), x26*(-t64 + 2*t70)), where(x69, x123 + maximum(maximum(0,
        x121*x26), t70 + x120), where(x70, t10*maximum(0, x121) + x123, t10*(maximum(0, x122) + maximum(0, -t64 + t70 +
        t73)))))
    )  # exposed_dp
    x151 = maximum(maximum(0, x150*x26), -t102*x119 + t112)
    t117 = t113*x125  # interleaved_bubble
    t126 = t10*t125  # step_sum
    t166 = (
        where(x68, maximum(maximum(0, x171 + x172), x26*(x170 + x171)), where(x69, x175 + maximum(maximum(0, x173*x26),
        t155 + x172), where(x70, t10*maximum(0, x173) + x175, t10*(maximum(0, x174) + maximum(0, t159 + x173)))))
    )  # exposed_dp
    t80 = t10*t74 + t76 + t78 + t79  # step_sum
    t115 = (
        where(x68, maximum(maximum(0, 2*t109 + x148), x26*(-t103 + 2*t109)), where(x69, x151 + maximum(maximum(0,
        x149*x26), t109 + x148), where(x70, t10*maximum(0, x149) + x151, t10*(maximum(0, x150) + maximum(0, -t103 + t109
        + t112)))))
    )  # exposed_dp
    t173 = (
        alpha_dp*t171*t172*x91 + minimum(t170, g_dp*(-t166 + t170)*minimum(1, n_zero + x28) + n_edge*t170*x90 + t166)
    )  # expected_dp
    t97 = t96*x131/t80  # mfu
    t119 = t10*t113 + t115 + t117 + t118  # step_sum
    t175 = t10*t165 + t168 + t169 + t173 + t174  # expected_step
    t136 = t135*x131/t119  # mfu
    t199 = t198*x131/t175  # mfu
    return [
        t10, t14, t35, t36, t37, t38, t49, t50, t51, t52, t53, t54, t55, t56, t57, t59, t60, t62, t85, t87, t89, t91,
        t93, t95, t76, t79, t78, t80, t97, t124, t126, t128, t130, t132, t134, t115, t118, t117, t119, t136, t177, t179,
        t181, t183, t185, t187, t189, t191, t193, t195, t197, t168, t169, t173, t174, t175, t199,
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
