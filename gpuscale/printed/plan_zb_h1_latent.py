"""Plans with the schedule zb-h1 and latent attention; behind a line, the formula of gpuscale.llm that it ends.

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
    x81 = 4*D
    x84 = less(n_drop, 1)
    x92 = X*n_cp - 1
    x93 = W_node*eta_net
    x95 = G*alpha_rank
    t145 = W_nvl*eta_nvl  # reached_bandwidth
    t105 = W_hbm*eta_hbm  # reached_bandwidth
    t143 = C*eta_mat  # reached_flops
    x109 = greater_equal(G, N_gpu)
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t144 = C*eta_attn  # reached_flops
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
    x113 = x26*(N_stages*(n_virt - 1) + 1)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x98 = X*x59
    x67 = maximum(1, Z*x66)
    x90 = maximum(1, N_gpu*x66)
    x94 = Y*x66
    t153 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    t146 = x93  # reached_bandwidth
    x96 = t145**(-1.0)
    x102 = t105**(-1.0)
    x104 = t143**(-1.0)
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    x77 = minimum(N_stages, t10)
    t180 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x87 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x82 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x89 = D*x51
    x99 = minimum(G, x98)
    t156 = x67  # spanned_nodes
    t46 = x90  # run_nodes
    t147 = x90  # run_nodes
    t150 = maximum(1, x94)  # spanned_nodes
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    t39 = x77  # zb_held
    x78 = b*x21
    x86 = x21*(D*x48 + x39*(x49 + x85))
    x88 = x21*(D*(8*b + x46) + x85)
    t11 = x21  # microbatch_tokens
    t148 = x93*maximum(1, (1/2)*t147)**(-gamma_net)  # many_nodes
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x79 = x39*x78
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    t47 = n_ahead*n_sp*t11*x4*(1 - x39)*where(x38, 1, where(less(N_stages, 3), 0, p_calm**t46))  # unfreed_arrays
    x97 = t148**(-1.0)
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    x80 = t21*x79
    x83 = where(x50, x78*(x39*x82 + x81), x79*(x81 + x82))
    x105 = x104*x63
    x118 = x4*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t40 = x80 + where(x84, x83, where(x50, x39*x87 + x86, x39*(x87 + x88)))  # whole_layer
    t41 = x80 + where(x84, x83, where(x50, x86, x39*x88))  # coreless_layer
    t176 = (
        where(x38, 0, where(x109, alpha_1, alpha_2)) + where(x38, 0, where(x109, x118*x96, x118/minimum(t145,
        t146*x66)))
    )  # expected_hop
    x30 = t13 - x29
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x89*(x47 + x6)), where(x36, x78*x89, t41)))
    )  # layer_kept
    t178 = (
        where(less(n_virt, 2), 2*t176*(x28 + ceil(x25*x28*(t10 - 2))), t176*(2*N_stages*n_virt - 2))
    )  # pipeline_exposed
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x91 = t14**(-1.0)
    x108 = ops_attn*t14
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t48 = t14*t42 + t45*x39  # last_stage_activations
    t149 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t170 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x109, 0, 1) + t_host)  # microbatch_host_time
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
    t152 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t155 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t169 = 6*F*n_mat*x105*x44*x64*(g_grp - 1)  # grouped_time
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    x60 = t30*x39
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    x43 = x41 + x42
    x75 = b_grad*x41
    x100 = x41*(-Y/maximum(Y, x99) + 1) + x42*(-Z/maximum(Z, x99) + 1)
    x101 = x41*x57*(-x61/maximum(maximum(G, Y), x98) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x98) + 1)
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x95*(t150 - 2)) + maximum(t28*x96, t29*x97)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t157 = (
        t155*where(less_equal(t156, 1), alpha_1, alpha_2 + x95*(t156 - 2)) + maximum(t33*x96, t34*x97)
    )  # expected_level
    t18 = x43  # stage_rank_params
    t35 = where(x68, b_w*x43, where(x71, b_w*x41 + b_w*x42, b_w*x74))  # stage_state
    t37 = where(x68, t0*x43, where(x71, t0*x41*x72 + t0*x76, t0*x74))  # stage_state
    t36 = (
        where(x68, b_grad*x43, where(x69, b_grad*x42 + x75, where(x70, b_grad*x76 + x72*x75, b_grad*x74)))
    )  # stage_state
    t158 = b_grad*x100  # dp_nvlink
    t162 = b_w*x100  # dp_nvlink
    t159 = b_grad*x101  # dp_network
    t163 = b_w*x101  # dp_network
    t154 = (
        t152*where(less_equal(t153, 1), alpha_1, alpha_2 + x95*(t153 - 2)) + maximum(t31*x96, t32*x97)
    )  # expected_level
    x103 = t18*x102
    t49 = (
        t18*x91*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t50 = V_fix + b_bucket*t18*minimum(1, x92) + t47  # framework_memory
    t168 = (
        x102*(b_acc*t18 + b_loss*n_vocab*x63 + g_ker*(t25 + t26)) + x63*(x104*(3*t15 + x107 - 3*x108) + x108*(g_attn +
        1)/t144)
    )  # microbatch_gpu_time
    t181 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t161 = maximum(t158*x96, t159*x97)  # expected_level
    t165 = maximum(t162*x96, t163*x97)  # expected_level
    x106 = maximum(b_w*x103, t15*x105)
    t167 = t26*x102 + maximum(x103*(2*b_grad + b_w), x105*(2*t15 + x107))  # stage_backward
    t183 = b_upd*x103*where(x68, 1, x72) + t_fix  # update_time
    t171 = (
        t_far*t14*maximum(0, -G + Y)*where(x38, 1, x94) + maximum(t170, g_cp*t154 + g_ep*t157 + g_tp*t151 + t168 + t169)
    )  # expected_microbatch
    t53 = t38 + t49 + t50 + maximum(t44, t48)  # gpu_memory
    x112 = 2*t161
    t166 = t25*x102 + x106  # stage_forward
    t174 = x106  # stage_forward
    x111 = -t167
    x114 = -t167*x113
    t179 = where(x68, x112, where(x69, t161 + t165, where(x70, t10*t161 + t165, t10*(t161 + 2*t165))))  # dp_exchange
    x110 = t171/(t166 + t167)
    x116 = t165 - t166
    x115 = t161 + x111
    t172 = t166*x110  # forward_slot
    t173 = t167*x110  # backward_slot
    x117 = maximum(maximum(0, x116*x26), t165 - t166*x113)
    x119 = t173 - t174
    t175 = (
        where(x68, maximum(maximum(0, x112 + x114), x26*(x111 + x112)), where(x69, x117 + maximum(maximum(0, x115*x26),
        t161 + x114), where(x70, t10*maximum(0, x115) + x117, t10*(maximum(0, x116) + maximum(0, t165 + x115)))))
    )  # exposed_dp
    t177 = x28*(t172 + x119) - (x77 - 1)*minimum(minimum(t172, t174), x119)  # zb_bubble
    t182 = (
        alpha_dp*t180*t181*x92 + minimum(t179, g_dp*(-t175 + t179)*minimum(1, n_zero + x28) + n_edge*t179*x91 + t175)
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
    x81 = 4*D
    x84 = less(n_drop, 1)
    x92 = X*n_cp - 1
    x101 = W_hbm**(-1.0)
    x104 = C**(-1.0)
    x108 = 2*b_grad + b_w
    x112 = W_node**(-1.0)
    x113 = W_nvl**(-1.0)
    x128 = greater_equal(G, N_gpu)
    x131 = less(n_virt, 2)
    x132 = 2*N_stages*n_virt - 2
    x133 = 3*B
    x135 = N_gpu**(-1.0)
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
    x123 = x26*(N_stages*(n_virt - 1) + 1)
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x96 = X*x59
    x67 = maximum(1, Z*x66)
    x90 = maximum(1, N_gpu*x66)
    x160 = Y*x66
    t153 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    x134 = x133*(2*P_act + x34)
    x137 = ops_tok*x133
    x136 = x104*x135
    x138 = t105**(-1.0)
    x142 = t102**(-1.0)
    x148 = t103**(-1.0)
    x149 = t104**(-1.0)
    t146 = x159  # reached_bandwidth
    x162 = t145**(-1.0)
    x164 = t143**(-1.0)
    x172 = (g_attn + 1)/t144
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    x77 = minimum(N_stages, t10)
    x95 = 2*t10
    x130 = 2*x28 + 2*ceil(x25*x28*(t10 - 2))
    t180 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x87 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x82 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x89 = D*x51
    x97 = minimum(G, x96)
    t156 = x67  # spanned_nodes
    t46 = x90  # run_nodes
    t147 = x90  # run_nodes
    t150 = maximum(1, x160)  # spanned_nodes
    t88 = x134  # model_flops
    t129 = x134  # model_flops
    t100 = x137  # counted_flops
    t141 = x137  # counted_flops
    t207 = x137  # counted_flops
    t186 = t185*x135*x164  # mfu_step_time
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    x129 = x77 - 1
    t39 = x77  # zb_held
    t60 = b_grad*where(x68, 2, where(x69, 1, t10)) + b_w*where(x68, 0, where(x70, 1, x95))  # dp_passes
    x78 = b*x21
    x86 = x21*(D*x48 + x39*(x49 + x85))
    x88 = x21*(D*(8*b + x46) + x85)
    t11 = x21  # microbatch_tokens
    t148 = x159*maximum(1, (1/2)*t147)**(-gamma_net)  # many_nodes
    t89 = t88*x136  # mfu_step_time
    t130 = t129*x135*x142  # mfu_step_time
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x79 = x39*x78
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    t47 = n_ahead*n_sp*t11*x4*(1 - x39)*where(x38, 1, where(less(N_stages, 3), 0, p_calm**t46))  # unfreed_arrays
    x163 = t148**(-1.0)
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    x80 = t21*x79
    x83 = where(x50, x78*(x39*x82 + x81), x79*(x81 + x82))
    x100 = x4*x63
    x105 = x104*x63
    x143 = x142*x63
    x165 = x164*x63
    x169 = b_loss*n_vocab*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t40 = x80 + where(x84, x83, where(x50, x39*x87 + x86, x39*(x87 + x88)))  # whole_layer
    t41 = x80 + where(x84, x83, where(x50, x86, x39*x88))  # coreless_layer
    t63 = x100  # sharded_hop_bytes
    t81 = where(x38, 0, where(x128, x100*x113, x100/minimum(W_nvl, W_node*x66)))  # stage_hop
    t122 = where(x38, 0, where(x128, x100*x148, x100/minimum(t103, t104*x66)))  # stage_hop
    t176 = (
        where(x38, 0, where(x128, alpha_1, alpha_2)) + where(x38, 0, where(x128, x100*x162, x100/minimum(t145,
        t146*x66)))
    )  # expected_hop
    t195 = x138*x169  # microbatch_gpu_time
    x30 = t13 - x29
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x89*(x47 + x6)), where(x36, x78*x89, t41)))
    )  # layer_kept
    t64 = where(x38, 0, n_virt*t63*x95)  # pipeline_bytes
    t83 = where(x131, t81*x130, t81*x132)  # pipeline_exposed
    t124 = where(x131, t122*x130, t122*x132)  # pipeline_exposed
    t178 = where(x131, t176*x130, t176*x132)  # pipeline_exposed
    t196 = t10*t195  # expected_step
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x91 = t14**(-1.0)
    x170 = ops_attn*t14
    x173 = t_far*t14*maximum(0, -G + Y)*where(x38, 1, x160)
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t48 = t14*t42 + t45*x39  # last_stage_activations
    t149 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t170 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x128, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x109 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t189 = ops_attn*x172*x39*x53  # microbatch_gpu_time
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t152 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t155 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t169 = 6*F*n_mat*x165*x44*x64*(g_grp - 1)  # grouped_time
    x110 = 2*t15 + x109
    x171 = x164*(3*t15 + x109 - 3*x170)
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    x102 = t25*x101
    x139 = t25*x138
    x107 = t26*x101
    x145 = t26*x138
    x168 = g_ker*(t25 + t26)
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t190 = t10*t189  # expected_step
    x60 = t30*x39
    x93 = maximum(t44, t48)
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    t191 = maximum(0, t169)  # expected_microbatch
    t187 = x171*x63  # microbatch_gpu_time
    x43 = x41 + x42
    x75 = b_grad*x41
    x98 = x41*(-Y/maximum(Y, x97) + 1) + x42*(-Z/maximum(Z, x97) + 1)
    x99 = x41*x57*(-x61/maximum(maximum(G, Y), x96) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x96) + 1)
    t86 = x102  # stage_forward
    t127 = x139  # stage_forward
    t87 = x107  # stage_backward
    t128 = x145  # stage_backward
    t193 = x138*x168  # microbatch_gpu_time
    t54 = t10*t28  # step_bytes
    t55 = t10*t29  # step_bytes
    t67 = maximum(t28*x113, t29*x112)  # level_time
    t108 = maximum(t28*x148, t29*x149)  # level_time
    t151 = (
        t149*where(less_equal(t150, 1), alpha_1, alpha_2 + x161*(t150 - 2)) + maximum(t28*x162, t29*x163)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t51 = x93  # gpu_memory
    t58 = t10*t33  # step_bytes
    t59 = t10*t34  # step_bytes
    t69 = maximum(t33*x113, t34*x112)  # level_time
    t110 = maximum(t33*x148, t34*x149)  # level_time
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
    x114 = b_grad*x98
    x116 = b_w*x98
    t61 = t60*x98  # dp_nvlink
    x115 = b_grad*x99
    x117 = b_w*x99
    t62 = t60*x99  # dp_network
    t92 = t86 + t87  # microbatch_time
    t133 = t127 + t128  # microbatch_time
    t194 = t10*t193  # expected_step
    x118 = g_tp*t67
    x150 = g_tp*t108
    x174 = g_tp*t151
    t56 = t10*t31  # step_bytes
    t57 = t10*t32  # step_bytes
    t68 = maximum(t31*x113, t32*x112)  # level_time
    t109 = maximum(t31*x148, t32*x149)  # level_time
    t154 = (
        t152*where(less_equal(t153, 1), alpha_1, alpha_2 + x161*(t153 - 2)) + maximum(t31*x162, t32*x163)
    )  # expected_level
    x120 = g_ep*t69
    x152 = g_ep*t110
    x176 = g_ep*t157
    x103 = t18*x101
    x140 = t18*x138
    x167 = b_acc*t18
    t49 = (
        t18*x91*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t50 = V_fix + b_bucket*t18*minimum(1, x92) + t47  # framework_memory
    t181 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t70 = x114  # dp_nvlink
    t111 = x114  # dp_nvlink
    t158 = x114  # dp_nvlink
    t73 = x116  # dp_nvlink
    t114 = x116  # dp_nvlink
    t162 = x116  # dp_nvlink
    t71 = x115  # dp_network
    t112 = x115  # dp_network
    t159 = x115  # dp_network
    t74 = x117  # dp_network
    t115 = x117  # dp_network
    t163 = x117  # dp_network
    t93 = t10*t92  # step_sum
    t134 = t10*t133  # step_sum
    t94 = x118  # microbatch_time
    t135 = x150  # microbatch_time
    t199 = x173 + maximum(0, x174)  # expected_microbatch
    x119 = g_cp*t68
    x151 = g_cp*t109
    x175 = g_cp*t154
    t98 = x120  # microbatch_time
    t139 = x152  # microbatch_time
    t203 = maximum(0, x176)  # expected_microbatch
    x106 = maximum(b_w*x103, t15*x105)
    x111 = maximum(x103*x108, x105*x110)
    x141 = b_w*x140
    x146 = x108*x140
    t183 = b_upd*x140*where(x68, 1, x72) + t_fix  # update_time
    t168 = x138*(x167 + x168 + x169) + x63*(x170*x172 + x171)  # microbatch_gpu_time
    t197 = x138*x167  # microbatch_gpu_time
    x94 = t49 + t50
    t72 = maximum(t70*x113, t71*x112)  # level_time
    t113 = maximum(t111*x148, t112*x149)  # level_time
    t161 = maximum(t158*x162, t159*x163)  # expected_level
    t75 = maximum(t73*x113, t74*x112)  # level_time
    t116 = maximum(t114*x148, t115*x149)  # level_time
    t165 = maximum(t162*x162, t163*x163)  # expected_level
    t95 = t10*t94  # step_sum
    t136 = t10*t135  # step_sum
    t200 = t10*t199  # expected_step
    t96 = x119  # microbatch_time
    t137 = x151  # microbatch_time
    t201 = maximum(0, x175)  # expected_microbatch
    t99 = t10*t98  # step_sum
    t140 = t10*t139  # step_sum
    t204 = t10*t203  # expected_step
    t65 = x102 + x106  # stage_forward
    t77 = x106  # stage_forward
    t66 = x107 + x111  # stage_backward
    t85 = x111  # stage_backward
    x144 = maximum(x141, t15*x143)
    x166 = maximum(x141, t15*x165)
    x147 = maximum(x146, x110*x143)
    t167 = x145 + maximum(x146, x110*x165)  # stage_backward
    x177 = t168 + t169 + x174 + x175 + x176
    t198 = t10*t197  # expected_step
    t52 = x94  # gpu_memory
    t53 = t38 + x93 + x94  # gpu_memory
    x180 = 2*t161
    t97 = t10*t96  # step_sum
    t138 = t10*t137  # step_sum
    t202 = t10*t201  # expected_step
    x126 = -t65 + t75
    x121 = t65 + t66
    x124 = -t66*x123
    x125 = -t66 + t72
    t90 = t77 + t85  # microbatch_time
    t106 = x139 + x144  # stage_forward
    t118 = x144  # stage_forward
    t166 = x139 + x166  # stage_forward
    t174 = x166  # stage_forward
    t107 = x145 + x147  # stage_backward
    t126 = x147  # stage_backward
    x179 = -t167
    x181 = -t167*x123
    t171 = x173 + maximum(t170, x177)  # expected_microbatch
    t205 = maximum(0, t170 - x177)  # host_wait
    t179 = where(x68, x180, where(x69, t161 + t165, where(x70, t10*t161 + t165, t10*(t161 + 2*t165))))  # dp_exchange
    x127 = maximum(maximum(0, x126*x26), -t65*x123 + t75)
    t76 = x118 + x119 + x120 + x121  # microbatch_time
    t91 = t10*t90  # step_sum
    x157 = -t106 + t116
    x183 = t165 - t166
    x153 = t106 + t107
    x155 = -t107*x123
    x156 = -t107 + t113
    t131 = t118 + t126  # microbatch_time
    x182 = t161 + x179
    x178 = t171/(t166 + t167)
    t206 = t10*t205  # expected_step
    t80 = (
        where(x68, maximum(maximum(0, 2*t72 + x124), x26*(-t66 + 2*t72)), where(x69, x127 + maximum(maximum(0,
        x125*x26), t72 + x124), where(x70, t10*maximum(0, x125) + x127, t10*(maximum(0, x126) + maximum(0, -t66 + t72 +
        t75)))))
    )  # exposed_dp
    x122 = t76/x121
    x158 = maximum(maximum(0, x157*x26), -t106*x123 + t116)
    x184 = maximum(maximum(0, x183*x26), t165 - t166*x123)
    t117 = x150 + x151 + x152 + x153  # microbatch_time
    t132 = t10*t131  # step_sum
    t172 = t166*x178  # forward_slot
    t173 = t167*x178  # backward_slot
    t78 = t65*x122  # forward_slot
    t79 = t66*x122  # backward_slot
    t121 = (
        where(x68, maximum(maximum(0, 2*t113 + x155), x26*(-t107 + 2*t113)), where(x69, x158 + maximum(maximum(0,
        x156*x26), t113 + x155), where(x70, t10*maximum(0, x156) + x158, t10*(maximum(0, x157) + maximum(0, -t107 + t113
        + t116)))))
    )  # exposed_dp
    t175 = (
        where(x68, maximum(maximum(0, x180 + x181), x26*(x179 + x180)), where(x69, x184 + maximum(maximum(0, x182*x26),
        t161 + x181), where(x70, t10*maximum(0, x182) + x184, t10*(maximum(0, x183) + maximum(0, t165 + x182)))))
    )  # exposed_dp
    x154 = t117/x153
    x185 = t173 - t174
    t82 = -x129*minimum(minimum(t77, t78), -t77 + t79) + x28*(-t77 + t78 + t79)  # zb_bubble
    t182 = (
        alpha_dp*t180*t181*x92 + minimum(t179, g_dp*(-t175 + t179)*minimum(1, n_zero + x28) + n_edge*t179*x91 + t175)
    )  # expected_dp
    t119 = t106*x154  # forward_slot
    t120 = t107*x154  # backward_slot
    t177 = -x129*minimum(minimum(t172, t174), x185) + x28*(t172 + x185)  # zb_bubble
    t84 = t10*t76 + t80 + t82 + t83  # step_sum
    t123 = -x129*minimum(minimum(t118, t119), -t118 + t120) + x28*(-t118 + t119 + t120)  # zb_bubble
    t184 = t10*t171 + t177 + t178 + t182 + t183  # expected_step
    t101 = t100*x136/t84  # mfu
    t125 = t10*t117 + t121 + t123 + t124  # step_sum
    t208 = t207*x136/t184  # mfu
    t142 = t141*x136/t125  # mfu
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
