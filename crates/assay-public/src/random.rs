//! Secrets.

/// 256 random bits of the kernel as 64 hexadecimal digits.
///
/// # Errors
/// Where the kernel gives none.
pub fn secret() -> std::io::Result<String> {
    let mut bits = [0; 32];
    assay_runner::random(&mut bits)?;
    Ok(blake3::Hash::from_bytes(bits).to_hex().to_string())
}
