//! Classes that an SD card claims in its SD Status register (SD Physical Layer Simplified
//! Specification 4.10.2): 512 bits, which the kernel prints as hex, most significant bit first
//! (drivers/mmc/core/sd.c, `ssr`), so bit 511 is the first of byte 0.

/// SPEED_CLASS, bits 447:440.
const SPEED_CLASS: usize = 8;
/// UHS_SPEED_GRADE, bits 399:396.
const UHS_GRADE: usize = 14;
/// VIDEO_SPEED_CLASS, bits 391:384.
const VIDEO_CLASS: usize = 15;
/// APP_PERF_CLASS, bits 339:336.
const APP_CLASS: usize = 21;

/// `["C10", "U3", "V30", "A2"]`; empty if the text is no register.
pub(crate) fn classes(hex: &str) -> Vec<String> {
    let byte = |index: usize| hex.get(index * 2..index * 2 + 2).and_then(|text| u8::from_str_radix(text, 16).ok());
    let mut classes = Vec::new();
    if hex.len() > 128 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return classes;
    }
    match byte(SPEED_CLASS) {
        Some(1) => classes.push("C2".to_owned()),
        Some(2) => classes.push("C4".to_owned()),
        Some(3) => classes.push("C6".to_owned()),
        Some(4) => classes.push("C10".to_owned()),
        _ => {}
    }
    if let Some(grade @ (1 | 3)) = byte(UHS_GRADE).map(|byte| byte >> 4) {
        classes.push(format!("U{grade}"));
    }
    if let Some(class @ (6 | 10 | 30 | 60 | 90)) = byte(VIDEO_CLASS) {
        classes.push(format!("V{class}"));
    }
    if let Some(class @ (1 | 2)) = byte(APP_CLASS).map(|byte| byte & 0x0f) {
        classes.push(format!("A{class}"));
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_register_is_read() {
        // SanDisk SC16G (Ultra A1) as udevadm showed it on a BeagleBone; one digit was lost at the end.
        let ultra = "0000000004000000040090000f051a00000000000001000000000000000000000000000000000000\
                     00000000000000000000000000000000000000000000000";
        assert_eq!(classes(ultra), ["C10", "U1", "A1"]);
    }

    #[test]
    fn every_class_is_found_at_its_place() {
        let mut register = [0u8; 64];
        register[8] = 4;
        register[14] = 0x3a;
        register[15] = 30;
        register[21] = 0x02;
        let hex: String = register.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(classes(&hex), ["C10", "U3", "V30", "A2"]);
    }

    #[test]
    fn nonsense_claims_nothing() {
        assert!(classes("").is_empty());
        assert!(classes("04").is_empty());
        assert!(classes(&"f".repeat(128)).is_empty());
        assert!(classes("0000000000000000é4").is_empty());
    }
}
