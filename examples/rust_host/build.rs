// Where libcellblock-client is: CELLBLOCK_LIBRARY_DIR, else what pkg-config says, else the system's directories.

use std::process::Command;

fn told_by_pkg_config() -> Option<String> {
    let output = Command::new("pkg-config").args(["--variable=libdir", "cellblock-client"]).output().ok()?;
    let directory = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !directory.is_empty()).then_some(directory)
}

fn main() {
    println!("cargo:rerun-if-env-changed=CELLBLOCK_LIBRARY_DIR");
    if let Some(directory) = std::env::var("CELLBLOCK_LIBRARY_DIR").ok().or_else(told_by_pkg_config) {
        println!("cargo:rustc-link-search=native={directory}");
    }
    println!("cargo:rustc-link-lib=dylib=cellblock-client");
}
