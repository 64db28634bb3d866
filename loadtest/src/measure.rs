//! Runs a load with everything around it: the line on the terminal, looks at the server, the report.

use crate::cli::RunArgs;
use crate::report::Report;
use crate::report::progress::{Amount, Progress};
use crate::run;
use crate::watch::Watch;

/// Runs as asked; `title` stands before the progress bar.
///
/// # Errors
/// Why nothing could be measured, in words.
pub(crate) fn measure(args: &RunArgs, title: &str) -> Result<Report, String> {
    if let Some(job) = args.subscribe_job() {
        let found = crate::subscribe::run(&job).map_err(|error| error.to_string())?;
        return Ok(Report::of_subscribe(args, &found));
    }
    let watch = args
        .pid
        .map(|pid| Watch::start(pid).map_err(|e| format!("cannot look at process {pid}: {e}")));
    let mut watch = watch.transpose()?;
    let amount = match args.requests {
        Some(requests) => Amount::Answers(requests),
        None => Amount::Time(args.duration.unwrap_or_default()),
    };
    let mut progress = Progress::new(title, amount);
    let outcome = run::watched(args, &mut |now| {
        progress.show(now);
        watch.iter_mut().for_each(|watch| watch.look(now.since));
    });
    drop(progress);
    let outcome = outcome.map_err(|error| error.to_string())?;
    let mut report = Report::new(args, &outcome);
    report.target = watch.map(|watch| {
        let (from, to) = (outcome.warmup, outcome.warmup + outcome.measured);
        watch.finish(from, to, report.requests)
    });
    if report.ramp.is_some()
        && let Some(target) = &mut report.target
    {
        // The looks are of the last rate tried, the figures of the best one.
        (target.cpu_s, target.cpu_us_per_request) = (None, None);
    }
    Ok(report)
}
