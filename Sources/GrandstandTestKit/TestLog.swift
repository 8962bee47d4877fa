package import Logging

/// Loggers for tests: silent below warnings, so that a test run's output is the tests'.
package enum TestLog {
    package static func logger(_ label: String) -> Logger {
        var logger = Logger(label: "test.\(label)")
        logger.logLevel = .warning
        return logger
    }
}
