//! What the system tells of the process, under the names that Prometheus has for it.

use super::metrics::Exposition;

/// Writes what there is; nothing on systems without `/proc`.
pub(super) fn write(out: &mut Exposition) {
    #[cfg(target_os = "linux")]
    linux::write(out);
    #[cfg(not(target_os = "linux"))]
    let _ = out;
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Exposition;

    pub(super) fn write(out: &mut Exposition) {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let stat = read("/proc/self/stat");
        // The name of the program stands in brackets and may have blanks; fields are counted from 1 (proc_pid_stat(5)).
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field =
            |number: usize| fields.get(number - 3).and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
        let ticks = rustix::param::clock_ticks_per_second();
        let seconds = |counted: u64| format!("{}.{:02}", counted / ticks, counted % ticks * 100 / ticks);
        let page = rustix::param::page_size() as u64;
        let boot = read("/proc/stat").lines().find_map(|line| line.strip_prefix("btime ")?.parse::<u64>().ok());
        let started = boot.unwrap_or_default() + field(22) / ticks;
        let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        out.single("process_cpu_seconds_total", "counter", "Processor time", seconds(field(14) + field(15)));
        out.single("process_resident_memory_bytes", "gauge", "Memory that is in use", field(24) * page);
        out.single("process_virtual_memory_bytes", "gauge", "Memory that is mapped", field(23));
        out.single("process_threads", "gauge", "Threads", field(20));
        out.single("process_open_fds", "gauge", "Descriptors that are open", descriptors);
        out.single("process_max_fds", "gauge", "Descriptors that there may be", most);
        let help = "When the process started, since 1970-01-01 UTC";
        out.single("process_start_time_seconds", "gauge", help, started);
    }
}
