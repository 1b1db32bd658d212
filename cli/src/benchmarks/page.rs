//! The page of results, `docs/performance.md`, brought up to date by a report.

use super::report::{BenchReport, ReportedResult};

/// The line of the page that says when and where its results were measured begins so.
const MEASURED: &str = "Measured on ";

/// The page with the results of a report: in each table row whose first cell begins with the name
/// of a ratio or a fact, the third cell becomes the result, and the fourth whether the goal is met.
/// The line that begins with `Measured on` becomes `measured`. All else stays as it is.
///
/// ```
/// use adumbra_cli::benchmarks::{BenchReport, RatioGoal, updated_page};
/// let mut report = BenchReport::default();
/// report.ratio("w1_batch_over_c", 1.234, Some(RatioGoal::AtMost(1.5)));
/// let page = "Measured on a day.\n\n| `w1_batch_over_c` (1) | 1.5 | 1.62 | no |\n";
/// let expected = "Measured on another.\n\n| `w1_batch_over_c` (1) | 1.5 | 1.23 | yes |\n";
/// assert_eq!(updated_page(page, &report, "another"), expected);
/// ```
pub fn updated_page(page: &str, report: &BenchReport, measured: &str) -> String {
    let lines = page.lines().map(|line| match updated_row(line, report) {
        _ if line.starts_with(MEASURED) => format!("{MEASURED}{measured}.\n"),
        Some(row) => format!("{row}\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// The row with its result, if it is one of the report's.
fn updated_row(line: &str, report: &BenchReport) -> Option<String> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let ["", result, goal, last, _, ""] = cells.as_slice() else {
        return None;
    };
    let name = result.strip_prefix('`')?.split('`').next()?;
    let yes_or_no = |holds| if holds { "yes" } else { "no" };
    let (last, met) = match report.result(name)? {
        ReportedResult::Ratio(ratio, ratio_goal) => {
            // As exact as it was.
            let decimals = last
                .split_once('.')
                .map_or(2, |(_, decimals)| decimals.len());
            let met = ratio_goal.map(|goal| goal.is_met(ratio));
            (format!("{ratio:.decimals$}"), met)
        }
        ReportedResult::Fact(holds) => (yes_or_no(holds).to_owned(), Some(holds)),
    };
    let cells = [*result, *goal, &last, met.map_or("", yes_or_no)];
    let cells = cells.map(|cell| format!("{}{cell} |", if cell.is_empty() { "" } else { " " }));
    Some(format!("|{}", cells.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmarks::RatioGoal;

    #[test]
    fn rows_of_the_report_alone_change() {
        let mut report = BenchReport::default();
        report.ratio("a_over_b", 2.0, Some(RatioGoal::AtLeast(3.0)));
        report.ratio("c_over_d", 1.25, None);
        report.fact("bytecode_is_that_of_off", true);
        let page = "# `a_over_b`\n\n| `a_over_b`, AVX2 (1) | 3 | 3.4 | yes |\n| `c_over_d` | | 1 | |\n\
                    | `bytecode_is_that_of_off` | yes | no | no |\n| `gone` | 1 | 2 | no |\n| W2 | 1 | 2 | no |\n";
        let expected = "# `a_over_b`\n\n| `a_over_b`, AVX2 (1) | 3 | 2.0 | no |\n| `c_over_d` | | 1.25 | |\n\
                        | `bytecode_is_that_of_off` | yes | yes | yes |\n| `gone` | 1 | 2 | no |\n| W2 | 1 | 2 | no |\n";
        assert_eq!(updated_page(page, &report, "today"), expected);
    }
}
