/// The form to sign in with.
struct SignIn: ConsolePage {
    var template: String { "sign-in" }
    let title = "Sign in"
    /// Why the last attempt failed.
    let fault: String?
    /// The page that is shown after signing in.
    let next: String

    init(returningTo target: String?, fault: String? = nil) {
        next = ConsolePath.returning(to: target)
        self.fault = fault
    }
}
