internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

extension PageResponder {
    /// Shows a page, if the session's key has the required scope.
    func show(_ route: PageRoute, _ request: Request, _ context: ConsoleContext) async -> Response {
        guard let text = SessionCookie.value(SessionCookie.name, in: request) else {
            return redirect(to: ConsolePath.signIn(returningTo: request.uri.string))
        }
        // Only this server's script can set this header; browsers do not let other sites set it.
        let isFromScript = request.headers[.grandstandLive] != nil
        var visitor: Visitor?
        var session: SessionSecret?
        do {
            let signedIn = try await sessions.signedIn(text, extendsSession: !isFromScript)
            session = signedIn.session
            visitor = Visitor(key: signedIn.key, path: request.uri.path)
            try Self.check(signedIn.key, for: route.scope)
            if isFromScript {
                let name = LivePages.Name(key: signedIn.key.id, uri: request.uri.string)
                let made = try await livePages.outcome(name, at: now()) { [self] in
                    try await outcome(of: route, signedIn, request, context)
                }
                return response(to: made, signedIn, request)
            }
            return response(to: try await outcome(of: route, signedIn, request, context), signedIn, request)
        } catch let problem as Problem where problem.kind == .unauthenticated {
            return signedOut(problem, next: request.uri.string, request)
        } catch {
            return refusal(error, visitor, session, request, context)
        }
    }

    /// A page or a redirection, before the session's token and cookies are added.
    enum Outcome: Sendable {
        case page(RenderedPage, status: HTTPResponse.Status)
        case elsewhere(String, notice: String?)
    }

    private func outcome(
        of route: PageRoute, _ signedIn: SignedIn, _ request: Request, _ context: ConsoleContext
    ) async throws -> Outcome {
        try context.access.countRequest(of: signedIn.key)
        let visit = visit(signedIn, request, context)
        _ = try visit.query.storable()
        let notice = Self.notice(in: request).flatMap { Notice.text($0, for: signedIn.session) }
        return outcome(try await route.handler(visit), visit, request, notice: notice)
    }

    /// The notice for this page. If a script fetches the page, there is no notice, because other viewers get the same
    /// copy of the page (`LivePages`).
    private static func notice(in request: Request) -> String? {
        request.headers[.grandstandLive] == nil ? SessionCookie.value(SessionCookie.noticeName, in: request) : nil
    }

    func visit(_ signedIn: SignedIn, _ request: Request, _ context: ConsoleContext) -> Visit {
        Visit(
            key: signedIn.key, query: FormFields(request.uri.query ?? ""), path: request.uri.path,
            parameters: context.parameters, now: now(),
            perform: { [access = context.access] in try await access.perform($0, as: signedIn.key) })
    }

    func outcome(
        _ answer: PageRoute.Answer, _ visit: Visit, _ request: Request, notice: String? = nil
    ) -> Outcome {
        let visitor = Visitor(key: visit.key, path: visit.path)
        switch answer {
        case .page(let page):
            // The answer to a form does not reload itself, because a reload would send the form again.
            let refresh = (request.method == .post ? nil : page.refresh).map { seconds in
                Refresh(
                    seconds: seconds, path: visit.path, query: request.uri.query,
                    isOff: visit.query["refresh"] == "off")
            }
            return .page(render(page, visitor, refresh: refresh, notice: notice), status: .ok)
        case .refused(let page, let status): return .page(render(page, visitor), status: .init(code: status))
        case .elsewhere(let path): return .elsewhere(path, notice: nil)
        case .done(let path, let notice): return .elsewhere(path, notice: notice)
        }
    }

    func response(to outcome: Outcome, _ signedIn: SignedIn, _ request: Request) -> Response {
        switch outcome {
        case .page(let page, let status):
            var response = Self.response(page, status: status, session: signedIn.session, now: now())
            if Self.notice(in: request) != nil {
                response.setCookie(cookie.cookie(SessionCookie.noticeName, "", maxAge: 0, for: request))
            }
            return response
        case .elsewhere(let path, let notice):
            var response = redirect(to: path)
            if let notice {
                response.setCookie(
                    cookie.cookie(
                        SessionCookie.noticeName, Notice.value(notice, for: signedIn.session),
                        maxAge: SessionCookie.noticeLifetime, for: request))
            }
            return response
        }
    }
}
