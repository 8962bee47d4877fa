package import Logging

/// Loggers for tests. They log only warnings and errors, so that the output of a test run stays readable.
package enum TestLog {
    package static func logger(_ label: String) -> Logger {
        var logger = Logger(label: "test.\(label)")
        logger.logLevel = .warning
        return logger
    }
}
