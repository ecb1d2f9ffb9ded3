//! Routes that cannot be added without saying who may use them.

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use axum::{
    Router,
    extract::Request,
    handler::Handler,
    http::Method,
    response::IntoResponse,
    routing::{MethodFilter, on},
};
use tower::Service;

use super::access::Rule;
use crate::server::App;

/// The rules of all routes, by path and method.
#[derive(Debug, Default)]
pub struct Rules(HashMap<&'static str, Vec<(Option<Method>, Rule)>>);

impl Rules {
    /// The rule of a route. A method that the route does not have falls under the rule of its first method.
    #[must_use]
    pub fn find(&self, path: &str, method: &Method) -> Option<&Rule> {
        let rules = self.0.get(path)?;
        let method = match *method {
            Method::HEAD => &Method::GET,
            _ => method,
        };
        let same = |one: &Option<Method>| one.as_ref().is_none_or(|one| one == method);
        let found = rules.iter().find(|(one, _)| same(one));
        found.or(rules.first()).map(|(_, rule)| rule)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, Method, Rule)> {
        self.0.iter().flat_map(|(path, rules)| {
            let of_path = rules.iter();
            of_path.map(|(method, rule)| (*path, method.clone().unwrap_or(Method::POST), *rule))
        })
    }

    /// All of them, as the table in docs/security.md.
    #[must_use]
    pub fn table(&self) -> String {
        let mut rows: Vec<_> = self
            .0
            .iter()
            .flat_map(|(path, rules)| rules.iter().map(move |(method, rule)| (path, method, rule)))
            .map(|(path, method, rule)| {
                let method = method.as_ref().map_or("any", Method::as_str);
                let Rule {
                    access, body, rate, ..
                } = rule;
                format!("| `{path}` | {method} | {access} | {body} | {rate} |")
            })
            .collect();
        rows.sort();
        format!(
            "| path | method | access | body | rate |\n|---|---|---|---|---|\n{}\n",
            rows.join("\n")
        )
    }
}

/// Routes, each with its rule. There is no other way to add one to the server.
#[derive(Default)]
pub struct Routes {
    router: Router<Arc<App>>,
    rules: Rules,
}

impl Routes {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers GET and HEAD.
    #[must_use]
    pub fn get<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        self.on(path, Method::GET, MethodFilter::GET, rule, handler)
    }

    /// Answers POST.
    #[must_use]
    pub fn post<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        self.on(path, Method::POST, MethodFilter::POST, rule, handler)
    }

    /// Answers PUT.
    #[must_use]
    pub fn put<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        self.on(path, Method::PUT, MethodFilter::PUT, rule, handler)
    }

    /// Answers PATCH.
    #[must_use]
    pub fn patch<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        self.on(path, Method::PATCH, MethodFilter::PATCH, rule, handler)
    }

    /// Answers DELETE.
    #[must_use]
    pub fn delete<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        self.on(path, Method::DELETE, MethodFilter::DELETE, rule, handler)
    }

    fn on<H, T>(
        mut self,
        path: &'static str,
        method: Method,
        filter: MethodFilter,
        rule: Rule,
        handler: H,
    ) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        self.router = self.router.route(path, on(filter, handler));
        self.rules
            .0
            .entry(path)
            .or_default()
            .push((Some(method), rule));
        self
    }

    /// Has a service answer all methods.
    #[must_use]
    pub fn service<S>(mut self, path: &'static str, rule: Rule, service: S) -> Self
    where
        S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: IntoResponse,
        S::Future: Send + 'static,
    {
        self.router = self.router.route_service(path, service);
        self.rules.0.entry(path).or_default().push((None, rule));
        self
    }

    /// Changes how these are served, such as by a layer around them; routes cannot be added that way unnoticed, since the
    /// guard refuses those without a rule.
    #[must_use]
    pub fn map(mut self, change: impl FnOnce(Router<Arc<App>>) -> Router<Arc<App>>) -> Self {
        self.router = change(self.router);
        self
    }

    /// These and others.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        for (path, rules) in other.rules.0 {
            self.rules.0.entry(path).or_default().extend(rules);
        }
        self
    }

    /// What serves them, and who may use them.
    pub fn into_parts(self) -> (Router<Arc<App>>, Rules) {
        (self.router, self.rules)
    }
}
