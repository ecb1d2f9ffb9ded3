//! Tensor sizes: quantized numbers are stored in blocks of a fixed size.

/// The bytes of numbers of a GGML type, in rows of `row`; 0 for an unknown (newer) type; `None` on overflow or a
/// partial block.
pub(super) fn bytes_of(kind: u32, row: u64, numbers: u64) -> Option<u64> {
    let Some((block, bytes)) = block_of(kind) else {
        return Some(0);
    };
    if !row.is_multiple_of(block) {
        return None;
    }
    (numbers / block).checked_mul(bytes)
}

/// Numbers per block, and bytes per block.
fn block_of(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        // F32, F16, I8, I16, I32, I64, F64, BF16
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        24 => (1, 1),
        27 | 28 => (1, 8),
        // Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1
        2 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        // Q2_K to Q8_K
        10 => (256, 84),
        11 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        // IQ2_XXS, IQ2_XS, IQ3_XXS, IQ1_S, IQ4_NL, IQ3_S, IQ2_S, IQ4_XS, IQ1_M
        16 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        20 => (32, 18),
        21 => (256, 110),
        22 => (256, 82),
        23 => (256, 136),
        29 => (256, 56),
        // TQ1_0, TQ2_0, MXFP4
        34 => (256, 54),
        35 => (256, 66),
        39 => (32, 17),
        _ => return None,
    })
}
