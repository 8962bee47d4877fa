/// The form to sign in with.
struct SignIn: ConsolePage {
    var template: TemplateName { .signIn }
    let title = "Sign in"
    /// Why the last try came to nothing.
    let fault: String?
    /// Where it goes on.
    let next: String

    init(returningTo target: String?, fault: String? = nil) {
        next = ConsolePath.returning(to: target)
        self.fault = fault
    }
}
