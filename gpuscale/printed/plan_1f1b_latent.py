"""Plans with the schedule 1f1b and latent attention; behind a line, the formula of gpuscale.llm that it ends.

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
    x77 = less(n_virt, 2)
    x81 = 4*D
    x84 = less(n_drop, 1)
    x92 = X*n_cp - 1
    x93 = W_node*eta_net
    x95 = G*alpha_rank
    t141 = W_nvl*eta_nvl  # reached_bandwidth
    t103 = W_hbm*eta_hbm  # reached_bandwidth
    t139 = C*eta_mat  # reached_flops
    x108 = greater_equal(G, N_gpu)
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t140 = C*eta_attn  # reached_flops
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
    x111 = x26*(N_stages*(n_virt - 1) + 1)
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
    t149 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    t142 = x93  # reached_bandwidth
    x96 = t141**(-1.0)
    x102 = t103**(-1.0)
    x104 = t139**(-1.0)
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    t39 = where(x77, minimum(N_stages, t10), minimum(n_virt*t10, N_stages*(n_virt + 1) - 1))  # first_stage_held
    t173 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
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
    t152 = x67  # spanned_nodes
    t46 = x90  # run_nodes
    t143 = x90  # run_nodes
    t146 = maximum(1, x94)  # spanned_nodes
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    x78 = b*x21
    x86 = x21*(D*x48 + x39*(x49 + x85))
    x88 = x21*(D*(8*b + x46) + x85)
    t11 = x21  # microbatch_tokens
    t144 = x93*maximum(1, (1/2)*t143)**(-gamma_net)  # many_nodes
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x79 = x39*x78
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    t47 = n_ahead*n_sp*t11*x4*(1 - x39)*where(x38, 1, where(less(N_stages, 3), 0, p_calm**t46))  # unfreed_arrays
    x97 = t144**(-1.0)
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    x80 = t21*x79
    x83 = where(x50, x78*(x39*x82 + x81), x79*(x81 + x82))
    x105 = x104*x63
    x116 = x4*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t40 = x80 + where(x84, x83, where(x50, x39*x87 + x86, x39*(x87 + x88)))  # whole_layer
    t41 = x80 + where(x84, x83, where(x50, x86, x39*x88))  # coreless_layer
    t169 = (
        where(x38, 0, where(x108, alpha_1, alpha_2)) + where(x38, 0, where(x108, x116*x96, x116/minimum(t141,
        t142*x66)))
    )  # expected_hop
    x30 = t13 - x29
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x89*(x47 + x6)), where(x36, x78*x89, t41)))
    )  # layer_kept
    t171 = where(x77, 2*t169*(x28 + ceil(x25*x28*(t10 - 2))), t169*(2*N_stages*n_virt - 2))  # pipeline_exposed
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x91 = t14**(-1.0)
    x107 = ops_attn*t14
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t48 = t14*t42 + t45*x39  # last_stage_activations
    t145 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t166 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x108, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x106 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t148 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t151 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t165 = 6*F*n_mat*x105*x44*x64*(g_grp - 1)  # grouped_time
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
    t147 = (
        t145*where(less_equal(t146, 1), alpha_1, alpha_2 + x95*(t146 - 2)) + maximum(t28*x96, t29*x97)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t153 = (
        t151*where(less_equal(t152, 1), alpha_1, alpha_2 + x95*(t152 - 2)) + maximum(t33*x96, t34*x97)
    )  # expected_level
    t18 = x43  # stage_rank_params
    t35 = where(x68, b_w*x43, where(x71, b_w*x41 + b_w*x42, b_w*x74))  # stage_state
    t37 = where(x68, t0*x43, where(x71, t0*x41*x72 + t0*x76, t0*x74))  # stage_state
    t36 = (
        where(x68, b_grad*x43, where(x69, b_grad*x42 + x75, where(x70, b_grad*x76 + x72*x75, b_grad*x74)))
    )  # stage_state
    t154 = b_grad*x100  # dp_nvlink
    t158 = b_w*x100  # dp_nvlink
    t155 = b_grad*x101  # dp_network
    t159 = b_w*x101  # dp_network
    t150 = (
        t148*where(less_equal(t149, 1), alpha_1, alpha_2 + x95*(t149 - 2)) + maximum(t31*x96, t32*x97)
    )  # expected_level
    x103 = t18*x102
    t49 = (
        t18*x91*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t50 = V_fix + b_bucket*t18*minimum(1, x92) + t47  # framework_memory
    t164 = (
        x102*(b_acc*t18 + b_loss*n_vocab*x63 + g_ker*(t25 + t26)) + x63*(x104*(3*t15 + x106 - 3*x107) + x107*(g_attn +
        1)/t140)
    )  # microbatch_gpu_time
    t174 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t157 = maximum(t154*x96, t155*x97)  # expected_level
    t161 = maximum(t158*x96, t159*x97)  # expected_level
    t162 = t25*x102 + maximum(b_w*x103, t15*x105)  # stage_forward
    t163 = t26*x102 + maximum(x103*(2*b_grad + b_w), x105*(2*t15 + x106))  # stage_backward
    t176 = b_upd*x103*where(x68, 1, x72) + t_fix  # update_time
    t167 = (
        t_far*t14*maximum(0, -G + Y)*where(x38, 1, x94) + maximum(t166, g_cp*t150 + g_ep*t153 + g_tp*t147 + t164 + t165)
    )  # expected_microbatch
    t53 = t38 + t49 + t50 + maximum(t44, t48)  # gpu_memory
    x110 = 2*t157
    x114 = t161 - t162
    x109 = -t163
    x112 = -t163*x111
    t170 = t167*x26*x28  # interleaved_bubble
    t172 = where(x68, x110, where(x69, t157 + t161, where(x70, t10*t157 + t161, t10*(t157 + 2*t161))))  # dp_exchange
    x115 = maximum(maximum(0, x114*x26), t161 - t162*x111)
    x113 = t157 + x109
    t168 = (
        where(x68, maximum(maximum(0, x110 + x112), x26*(x109 + x110)), where(x69, x115 + maximum(maximum(0, x113*x26),
        t157 + x112), where(x70, t10*maximum(0, x113) + x115, t10*(maximum(0, x114) + maximum(0, t161 + x113)))))
    )  # exposed_dp
    t175 = (
        alpha_dp*t173*t174*x92 + minimum(t172, g_dp*(-t168 + t172)*minimum(1, n_zero + x28) + n_edge*t172*x91 + t168)
    )  # expected_dp
    t177 = t10*t167 + t170 + t171 + t175 + t176  # expected_step
    return [t53, t38, t177]


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
    x77 = less(n_virt, 2)
    x82 = 4*D
    x85 = less(n_drop, 1)
    x93 = X*n_cp - 1
    x101 = W_hbm**(-1.0)
    x104 = C**(-1.0)
    x108 = 2*b_grad + b_w
    x112 = W_node**(-1.0)
    x113 = W_nvl**(-1.0)
    x126 = greater_equal(G, N_gpu)
    x129 = 2*N_stages*n_virt - 2
    x130 = 3*B
    x132 = N_gpu**(-1.0)
    t103 = W_hbm*eta_hbm  # reached_bandwidth
    t100 = C*eta  # reached_flops
    t101 = W_nvl*eta_1  # reached_bandwidth
    t102 = W_node*eta_2  # reached_bandwidth
    x154 = W_node*eta_net
    x156 = G*alpha_rank
    t141 = W_nvl*eta_nvl  # reached_bandwidth
    t139 = C*eta_mat  # reached_flops
    t140 = C*eta_attn  # reached_flops
    t0 = b_master + 2*b_mom  # optimizer_bytes
    t178 = 6*B*P_act  # model_flops
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
    x72 = x18*x19
    x27 = x25*x26
    x121 = x26*(N_stages*(n_virt - 1) + 1)
    x127 = x26*x28
    x55 = where(x35, 0, where(x36, 1, 0))
    t19 = x2*(n_mat*x7 + x3*(n_mat*x8 + 2*x44))  # mean_kept_mlp
    t20 = x2*(x3*(x44 + x45*x8) + x45*x7)  # mean_few_mlp
    x47 = n_drop*x46
    x48 = x11 + x46
    x51 = where(x50, 1, x39)
    x96 = X*x59
    x67 = maximum(1, Z*x66)
    x91 = maximum(1, N_gpu*x66)
    x155 = Y*x66
    t149 = maximum(1, x59*x66)  # spanned_nodes
    x71 = logical_or.reduce((x69,x70))
    x131 = x130*(2*P_act + x34)
    x134 = ops_tok*x130
    x133 = x104*x132
    x135 = t103**(-1.0)
    x139 = t100**(-1.0)
    x145 = t101**(-1.0)
    x146 = t102**(-1.0)
    t142 = x154  # reached_bandwidth
    x157 = t141**(-1.0)
    x159 = t139**(-1.0)
    x166 = (g_attn + 1)/t140
    x10 = b*x9
    t21 = D*n_copy + n_wide*x9  # framework_elements
    t24 = x49  # norms_forward
    t9 = D*x17 + x2*(P_act - x16)  # mean_layer_matrices
    x78 = n_virt*t10
    x128 = 2*x28 + 2*ceil(x25*x28*(t10 - 2))
    t60 = b_grad*where(x68, 2, where(x69, 1, t10)) + b_w*where(x68, 0, where(x70, 1, 2*t10))  # dp_passes
    t173 = where(x69, 1, where(x70, t10, 3*t10))  # dp_rounds
    x21 = S*x20
    x88 = S**2*n_q*x20*(b_mask + x6)
    x73 = x39*x72
    x29 = n_virt*ceil(L*x27)
    x56 = 2*x55 + 4
    x83 = t19 + t3
    t22 = D*(10*b + x47)  # between_forward
    t23 = D*(12*b + n_drop*x48)  # between_backward
    x90 = D*x51
    x97 = minimum(G, x96)
    t152 = x67  # spanned_nodes
    t46 = x91  # run_nodes
    t143 = x91  # run_nodes
    t146 = maximum(1, x155)  # spanned_nodes
    t86 = x131  # model_flops
    t125 = x131  # model_flops
    t98 = x134  # counted_flops
    t137 = x134  # counted_flops
    t200 = x134  # counted_flops
    t179 = t178*x132*x159  # mfu_step_time
    x15 = n_mat*x10 + x1*x6 + x13 + x14
    t7 = 3*b*x1 + x10*(2*n_mat - 1) + x12*(5*b + b_mask) + x14 + x5  # inside_backward
    x22 = ops_attn + 2*t9
    t39 = where(x77, minimum(N_stages, t10), minimum(x78, N_stages*(n_virt + 1) - 1))  # first_stage_held
    x79 = b*x21
    x87 = x21*(D*x48 + x39*(x49 + x86))
    x89 = x21*(D*(8*b + x46) + x86)
    t11 = x21  # microbatch_tokens
    t144 = x154*maximum(1, (1/2)*t143)**(-gamma_net)  # many_nodes
    t87 = t86*x133  # mfu_step_time
    t126 = t125*x132*x139  # mfu_step_time
    t6 = x15 + x5  # inside_forward
    t8 = x15  # inside_recompute
    x24 = x23/x22
    x32 = L*x22
    x80 = x39*x79
    x63 = t11*x39
    t45 = t11*(D*x6 + b_logit*n_vocab)  # head_activations
    t47 = n_ahead*n_sp*t11*x4*(1 - x39)*where(x38, 1, where(less(N_stages, 3), 0, p_calm**t46))  # unfreed_arrays
    x158 = t144**(-1.0)
    x52 = t22*x51 + t6*x39
    t12 = ceil(x24)  # head_layers
    t16 = where(x33, 0, where(x35, 2*L*t5 + x34, where(x36, x32, x34)))  # recomputed_flops
    x81 = t21*x80
    x84 = where(x50, x79*(x39*x83 + x82), x80*(x82 + x83))
    x100 = x4*x63
    x105 = x104*x63
    x140 = x139*x63
    x160 = x159*x63
    x163 = b_loss*n_vocab*x63
    t13 = n_virt*minimum(ceil(x27*(L + t12)), ceil(L*x26/maximum(1, x28)))  # stage_room
    t40 = x81 + where(x85, x84, where(x50, x39*x88 + x87, x39*(x88 + x89)))  # whole_layer
    t41 = x81 + where(x85, x84, where(x50, x87, x39*x89))  # coreless_layer
    t63 = x100  # sharded_hop_bytes
    t79 = where(x38, 0, where(x126, x100*x113, x100/minimum(W_nvl, W_node*x66)))  # stage_hop
    t118 = where(x38, 0, where(x126, x100*x145, x100/minimum(t101, t102*x66)))  # stage_hop
    t169 = (
        where(x38, 0, where(x126, alpha_1, alpha_2)) + where(x38, 0, where(x126, x100*x157, x100/minimum(t141,
        t142*x66)))
    )  # expected_hop
    t188 = x135*x163  # microbatch_gpu_time
    x30 = t13 - x29
    t42 = (
        where(x33, t40, where(x35, x21*(b_kept*x39*(t20 + t4) + x90*(x47 + x6)), where(x36, x79*x90, t41)))
    )  # layer_kept
    t64 = where(x38, 0, 2*t63*x78)  # pipeline_bytes
    t81 = where(x77, t79*x128, t79*x129)  # pipeline_exposed
    t120 = where(x77, t118*x128, t118*x129)  # pipeline_exposed
    t171 = where(x77, t169*x128, t169*x129)  # pipeline_exposed
    t189 = t10*t188  # expected_step
    t14 = where(x31, t13 - x30*(2 - minimum(2, ceil(x24/maximum(1, x30)))), x29)  # stage_layers
    x37 = t14*x2
    x53 = t11*t14
    x58 = t14*(x55 + 3)
    x92 = t14**(-1.0)
    x164 = ops_attn*t14
    x167 = t_far*t14*maximum(0, -G + Y)*where(x38, 1, x155)
    t15 = maximum(maximum(x23, x25*(x23 + x32)), t14*x22 + x23*where(x31, minimum(1, t13 - t14), 1))  # stage_flops
    t43 = t14*t39*x26  # flying_layers
    t48 = t14*t42 + t45*x39  # last_stage_activations
    t145 = where(less(Y, 2), 0, t14*x54*(3*n_sp + x55*(n_sp + 1) + 2))  # tp_calls
    t166 = t_head + t14*(Y*t_cross*minimum(1, x28)*where(x126, 0, 1) + t_host)  # microbatch_host_time
    x40 = P_exp*x37
    x64 = x3*x37
    x109 = t16*x37
    t17 = t14*x17*(D + n_bias) + x16*where(x38, n_emb, 1) + x37*(P - n_emb*x16)  # stage_params
    t25 = x52*x53  # kernels_forward
    t26 = (
        x53*(t23*x51 + t7*x39 + where(x33, 0, where(x35, t24*x51 + t8*x39, where(x36, x52, x13*x39))))
    )  # kernels_backward
    t27 = x4*x53*x54*(n_sp + x56)  # tp_bytes
    t182 = ops_attn*x166*x39*x53  # microbatch_gpu_time
    t30 = S*Y*b*n_seq*x58*(d_rope + r_kv)  # latent_cp_bytes
    t148 = where(less(n_cp, 2), 0, x58)  # cp_calls
    t44 = t42*t43  # flying_activations
    x42 = x40/Z
    x76 = x40*x73
    x65 = D*Z*x63*x64*(b + t1)*(x55 + 2)
    t151 = where(less(Z, 2), 0, x56*x64)  # ep_calls
    t165 = 6*F*n_mat*x160*x44*x64*(g_grp - 1)  # grouped_time
    x110 = 2*t15 + x109
    x165 = x159*(3*t15 + x109 - 3*x164)
    x41 = x39*(t17 - x40)
    x74 = t17*x73
    x102 = t25*x101
    x136 = t25*x135
    x107 = t26*x101
    x142 = t26*x135
    x162 = g_ker*(t25 + t26)
    t28 = t27*(1 - 1/maximum(1, x57))  # group_nvlink
    t29 = t27*(-maximum(1, G)/maximum(maximum(1, G), Y) + 1)*minimum(1, G)  # group_network
    t183 = t10*t182  # expected_step
    x60 = t30*x39
    x94 = maximum(t44, t48)
    t33 = f_hit*x65*(x62 - 1)/x62  # exchange_nvlink
    t34 = f_node*x65*(x67 - 1)/x67  # exchange_network
    t184 = maximum(0, t165)  # expected_microbatch
    t180 = x165*x63  # microbatch_gpu_time
    x43 = x41 + x42
    x75 = b_grad*x41
    x98 = x41*(-Y/maximum(Y, x97) + 1) + x42*(-Z/maximum(Z, x97) + 1)
    x99 = x41*x57*(-x61/maximum(maximum(G, Y), x96) + 1) + x42*x62*(-maximum(G, Z)/maximum(maximum(G, Z), x96) + 1)
    t84 = x102  # stage_forward
    t123 = x136  # stage_forward
    t85 = x107  # stage_backward
    t124 = x142  # stage_backward
    t186 = x135*x162  # microbatch_gpu_time
    t54 = t10*t28  # step_bytes
    t55 = t10*t29  # step_bytes
    t67 = maximum(t28*x113, t29*x112)  # level_time
    t106 = maximum(t28*x145, t29*x146)  # level_time
    t147 = (
        t145*where(less_equal(t146, 1), alpha_1, alpha_2 + x156*(t146 - 2)) + maximum(t28*x157, t29*x158)
    )  # expected_level
    t31 = x60*(-Y/maximum(Y, minimum(G, x59)) + 1)  # group_nvlink
    t32 = x57*x60*(-x61/maximum(maximum(G, Y), x59) + 1)  # group_network
    t51 = x94  # gpu_memory
    t58 = t10*t33  # step_bytes
    t59 = t10*t34  # step_bytes
    t69 = maximum(t33*x113, t34*x112)  # level_time
    t108 = maximum(t33*x145, t34*x146)  # level_time
    t153 = (
        t151*where(less_equal(t152, 1), alpha_1, alpha_2 + x156*(t152 - 2)) + maximum(t33*x157, t34*x158)
    )  # expected_level
    t185 = t10*t184  # expected_step
    t181 = t10*t180  # expected_step
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
    t90 = t84 + t85  # microbatch_time
    t129 = t123 + t124  # microbatch_time
    t187 = t10*t186  # expected_step
    x118 = g_tp*t67
    x147 = g_tp*t106
    x168 = g_tp*t147
    t56 = t10*t31  # step_bytes
    t57 = t10*t32  # step_bytes
    t68 = maximum(t31*x113, t32*x112)  # level_time
    t107 = maximum(t31*x145, t32*x146)  # level_time
    t150 = (
        t148*where(less_equal(t149, 1), alpha_1, alpha_2 + x156*(t149 - 2)) + maximum(t31*x157, t32*x158)
    )  # expected_level
    x120 = g_ep*t69
    x149 = g_ep*t108
    x170 = g_ep*t153
    x103 = t18*x101
    x137 = t18*x135
    x161 = b_acc*t18
    t49 = (
        t18*x92*where(x69, 0, where(x70, b_grad, b_grad + 2*b_w)) + where(x33, 0, where(x36, t40, t40 - t41))
    )  # working_memory
    t50 = V_fix + b_bucket*t18*minimum(1, x93) + t47  # framework_memory
    t174 = where(x70, maximum(1, b_w*t18/V_bucket), t14)  # dp_buckets
    t38 = t35 + t36 + t37  # replicated_state
    t70 = x114  # dp_nvlink
    t109 = x114  # dp_nvlink
    t154 = x114  # dp_nvlink
    t73 = x116  # dp_nvlink
    t112 = x116  # dp_nvlink
    t158 = x116  # dp_nvlink
    t71 = x115  # dp_network
    t110 = x115  # dp_network
    t155 = x115  # dp_network
    t74 = x117  # dp_network
    t113 = x117  # dp_network
    t159 = x117  # dp_network
    t91 = t10*t90  # step_sum
    t130 = t10*t129  # step_sum
    t92 = x118  # microbatch_time
    t131 = x147  # microbatch_time
    t192 = x167 + maximum(0, x168)  # expected_microbatch
    x119 = g_cp*t68
    x148 = g_cp*t107
    x169 = g_cp*t150
    t96 = x120  # microbatch_time
    t135 = x149  # microbatch_time
    t196 = maximum(0, x170)  # expected_microbatch
    x106 = maximum(b_w*x103, t15*x105)
    x111 = maximum(x103*x108, x105*x110)
    x138 = b_w*x137
    x143 = x108*x137
    t176 = b_upd*x137*where(x68, 1, x72) + t_fix  # update_time
    t164 = x135*(x161 + x162 + x163) + x63*(x164*x166 + x165)  # microbatch_gpu_time
    t190 = x135*x161  # microbatch_gpu_time
    x95 = t49 + t50
    t72 = maximum(t70*x113, t71*x112)  # level_time
    t111 = maximum(t109*x145, t110*x146)  # level_time
    t157 = maximum(t154*x157, t155*x158)  # expected_level
    t75 = maximum(t73*x113, t74*x112)  # level_time
    t114 = maximum(t112*x145, t113*x146)  # level_time
    t161 = maximum(t158*x157, t159*x158)  # expected_level
    t93 = t10*t92  # step_sum
    t132 = t10*t131  # step_sum
    t193 = t10*t192  # expected_step
    t94 = x119  # microbatch_time
    t133 = x148  # microbatch_time
    t194 = maximum(0, x169)  # expected_microbatch
    t97 = t10*t96  # step_sum
    t136 = t10*t135  # step_sum
    t197 = t10*t196  # expected_step
    t65 = x102 + x106  # stage_forward
    t77 = x106  # stage_forward
    t66 = x107 + x111  # stage_backward
    t83 = x111  # stage_backward
    x141 = maximum(x138, t15*x140)
    t162 = x136 + maximum(x138, t15*x160)  # stage_forward
    x144 = maximum(x143, x110*x140)
    t163 = x142 + maximum(x143, x110*x160)  # stage_backward
    x171 = t164 + t165 + x168 + x169 + x170
    t191 = t10*t190  # expected_step
    t52 = x95  # gpu_memory
    t53 = t38 + x94 + x95  # gpu_memory
    x173 = 2*t157
    t95 = t10*t94  # step_sum
    t134 = t10*t133  # step_sum
    t195 = t10*t194  # expected_step
    x124 = -t65 + t75
    x122 = -t66*x121
    x123 = -t66 + t72
    t76 = t65 + t66 + x118 + x119 + x120  # microbatch_time
    t88 = t77 + t83  # microbatch_time
    t104 = x136 + x141  # stage_forward
    t116 = x141  # stage_forward
    x176 = t161 - t162
    t105 = x142 + x144  # stage_backward
    t122 = x144  # stage_backward
    x172 = -t163
    x174 = -t163*x121
    t167 = x167 + maximum(t166, x171)  # expected_microbatch
    t198 = maximum(0, t166 - x171)  # host_wait
    t172 = where(x68, x173, where(x69, t157 + t161, where(x70, t10*t157 + t161, t10*(t157 + 2*t161))))  # dp_exchange
    x125 = maximum(maximum(0, x124*x26), -t65*x121 + t75)
    t80 = t76*x127  # interleaved_bubble
    t89 = t10*t88  # step_sum
    x152 = -t104 + t114
    x177 = maximum(maximum(0, x176*x26), t161 - t162*x121)
    x150 = -t105*x121
    x151 = -t105 + t111
    t115 = t104 + t105 + x147 + x148 + x149  # microbatch_time
    t127 = t116 + t122  # microbatch_time
    x175 = t157 + x172
    t170 = t167*x127  # interleaved_bubble
    t199 = t10*t198  # expected_step
    t78 = (
        where(x68, maximum(maximum(0, 2*t72 + x122), x26*(-t66 + 2*t72)), where(x69, x125 + maximum(maximum(0,
        x123*x26), t72 + x122), where(x70, t10*maximum(0, x123) + x125, t10*(maximum(0, x124) + maximum(0, -t66 + t72 +
        t75)))))
    )  # exposed_dp
    x153 = maximum(maximum(0, x152*x26), -t104*x121 + t114)
    t119 = t115*x127  # interleaved_bubble
    t128 = t10*t127  # step_sum
    t168 = (
        where(x68, maximum(maximum(0, x173 + x174), x26*(x172 + x173)), where(x69, x177 + maximum(maximum(0, x175*x26),
        t157 + x174), where(x70, t10*maximum(0, x175) + x177, t10*(maximum(0, x176) + maximum(0, t161 + x175)))))
    )  # exposed_dp
    t82 = t10*t76 + t78 + t80 + t81  # step_sum
    t117 = (
        where(x68, maximum(maximum(0, 2*t111 + x150), x26*(-t105 + 2*t111)), where(x69, x153 + maximum(maximum(0,
        x151*x26), t111 + x150), where(x70, t10*maximum(0, x151) + x153, t10*(maximum(0, x152) + maximum(0, -t105 + t111
        + t114)))))
    )  # exposed_dp
    t175 = (
        alpha_dp*t173*t174*x93 + minimum(t172, g_dp*(-t168 + t172)*minimum(1, n_zero + x28) + n_edge*t172*x92 + t168)
    )  # expected_dp
    t99 = t98*x133/t82  # mfu
    t121 = t10*t115 + t117 + t119 + t120  # step_sum
    t177 = t10*t167 + t170 + t171 + t175 + t176  # expected_step
    t138 = t137*x133/t121  # mfu
    t201 = t200*x133/t177  # mfu
    return [
        t10, t14, t35, t36, t37, t38, t51, t52, t53, t54, t55, t56, t57, t58, t59, t61, t62, t64, t87, t89, t91, t93,
        t95, t97, t78, t81, t80, t82, t99, t126, t128, t130, t132, t134, t136, t117, t120, t119, t121, t138, t179, t181,
        t183, t185, t187, t189, t191, t193, t195, t197, t199, t170, t171, t175, t176, t177, t201,
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
