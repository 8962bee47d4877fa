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
        var viewer: SignedIn?
        do {
            let signedIn = try await sessions.signedIn(text, extendsSession: !isFromScript)
            viewer = signedIn
            try Self.check(signedIn.key, for: route.scope)
            try context.access.countRequest(of: signedIn.key)
            let visit = visit(signedIn, request, context)
            _ = try visit.query.storable()
            return response(to: try await route.handler(visit), visit, signedIn, request)
        } catch let problem as Problem where problem.kind == .unauthenticated {
            return signedOut(problem, next: request.uri.string, request)
        } catch {
            return refusal(error, request, context, viewer, at: request.uri.path)
        }
    }

    /// The cookie with the notice for this page. A script that fetches the page gets none: the notice is for the next page.
    private static func notice(in request: Request) -> String? {
        request.headers[.grandstandLive] == nil ? SessionCookie.value(SessionCookie.noticeName, in: request) : nil
    }

    func visit(_ signedIn: SignedIn, _ request: Request, _ context: ConsoleContext) -> Visit {
        Visit(
            key: signedIn.key, query: FormFields(request.uri.query ?? ""), path: request.uri.path,
            parameters: context.parameters, now: now(),
            perform: { [access = context.access] in try await access.perform($0, as: signedIn.key) })
    }

    func response(
        to answer: PageRoute.Answer, _ visit: Visit, _ signedIn: SignedIn, _ request: Request
    ) -> Response {
        switch answer {
        case .page(let page, let status):
            // The answer to a form does not reload itself, because a reload would send the form again.
            let isForm = request.method == .post
            let refresh = (isForm ? nil : page.refresh).map { seconds in
                Refresh(
                    seconds: seconds, path: visit.path, query: request.uri.query,
                    isOff: visit.query["refresh"] == "off")
            }
            let kept = Self.notice(in: request)
            var response = response(
                page, status: .init(code: status), signedIn, at: visit.path, refresh: refresh,
                notice: isForm ? nil : kept.flatMap { Notice.text($0, for: signedIn.session) })
            if kept != nil {
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
