//! The book's pages on errors and warnings.

macro_rules! pages {
    ($($code:ident)*) => {
        const PAGES: &[(&str, &str)] = &[$((
            stringify!($code),
            include_str!(concat!("../docs/errors/", stringify!($code), ".md")),
        ),)*];
    };
}

pages! {
    E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108 E0109 E0110 E0111 E0112 E0113 E0114 E0115 E0201 E0202
    E0203 E0204 E0205 E0206 E0207 E0208 E0210 E0211 E0212 E0213 E0214 E0215 E0216 E0217 E0221 E0301 E0302
    E0303 E0304 E0305 E0306 E0307 E0308 E0309 E0310 E0311 E0312 E0313 E0314 E0315 E0316 E0317 E0318
    E0401 E0402 E0403 E0404 E0405 E0406 E0501 E0502 E0503 E0504 E0505 E0521 E0531 E0532 E0533 E0534 E0535 E0536
    E0537 E0538 E0539 E0540 E0541 E0543 E0544 E0551 E0552 E0553 E0554 E0555 E0556 E0557 E0558 E0559 E0560 E0561 E0562 E0563 E0564 E0566 E0567 E0570 E0571 E0572 E0574 E0576 E0577 E0578
    E0601 E0602 E0603 E0604 E0605 E0606 E0607 E0611 E0612 E0701 E0702 E0703
    E0704 E0711 E0712 E0713 E0714 E0811 E0812 E0813 E0814 E0815 E0816 E0817 E0818 W0411 W0412 W0413 W0414
    W0415 W0416 W0417 W0511 W0512 W0513 W0514 W0515 W0516 W0517 W0518 W0519 W0520 W0801 W0802 W0803 W0804 W0805
    W0806
}

/// The book's page on an error or a warning, in Markdown: the reason, a wrong source, its report,
/// and the fixed source. Case is ignored.
///
/// ```
/// use adumbra::diagnostics::page;
/// assert!(page("E0205").unwrap().starts_with("# E0205: "));
/// assert_eq!(page("E9999"), None);
/// ```
pub fn page(code: &str) -> Option<&'static str> {
    let found = PAGES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(code))?;
    Some(found.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Code;

    #[test]
    fn every_code_has_a_page() {
        let codes: Vec<String> = Code::ALL.iter().map(Code::to_string).collect();
        for code in &codes {
            let page = page(code).unwrap_or_default();
            assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        }
        assert_eq!(PAGES.len(), codes.len());
        assert_eq!(page("e0205"), page("E0205"));
        assert_eq!(page("E9999"), None);
    }
}
