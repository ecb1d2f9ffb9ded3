//! Routes that cannot be added without an access rule.

use std::{collections::HashMap, convert::Infallible};

use axum::{
    Router,
    extract::Request,
    handler::Handler,
    http::Method,
    response::IntoResponse,
    routing::{MethodFilter, MethodRouter, on},
};
use tower::Service;

use crate::access::Rule;

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

    pub fn all(&self) -> impl Iterator<Item = (&'static str, Method, Rule)> {
        self.0.iter().flat_map(|(path, rules)| {
            let of_path = rules.iter();
            of_path.map(|(method, rule)| (*path, method.clone().unwrap_or(Method::POST), *rule))
        })
    }

    /// The table in docs/security.md.
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

/// Routes over the state `S`, each with its rule. There is no other way to add one to the server.
pub struct Routes<S = ()> {
    router: Router<S>,
    rules: Rules,
}

impl<S: Clone + Send + Sync + 'static> Default for Routes<S> {
    fn default() -> Self {
        Self {
            router: Router::new(),
            rules: Rules::default(),
        }
    }
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn get<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.on(path, Method::GET, MethodFilter::GET, rule, handler)
    }

    #[must_use]
    pub fn post<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.on(path, Method::POST, MethodFilter::POST, rule, handler)
    }

    #[must_use]
    pub fn put<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.on(path, Method::PUT, MethodFilter::PUT, rule, handler)
    }

    #[must_use]
    pub fn patch<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.on(path, Method::PATCH, MethodFilter::PATCH, rule, handler)
    }

    #[must_use]
    pub fn delete<H, T>(self, path: &'static str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.on(path, Method::DELETE, MethodFilter::DELETE, rule, handler)
    }

    fn on<H, T>(
        self,
        path: &'static str,
        method: Method,
        filter: MethodFilter,
        rule: Rule,
        handler: H,
    ) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.add(path, method, rule, on(filter, handler))
    }

    /// Apart from `on`, which is compiled once per handler.
    fn add(
        mut self,
        path: &'static str,
        method: Method,
        rule: Rule,
        handler: MethodRouter<S>,
    ) -> Self {
        self.router = self.router.route(path, handler);
        self.rules
            .0
            .entry(path)
            .or_default()
            .push((Some(method), rule));
        self
    }

    /// A service for all methods.
    #[must_use]
    pub fn service<V>(mut self, path: &'static str, rule: Rule, service: V) -> Self
    where
        V: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
        V::Response: IntoResponse,
        V::Future: Send + 'static,
    {
        self.router = self.router.route_service(path, service);
        self.rules.0.entry(path).or_default().push((None, rule));
        self
    }

    /// Changes the router, for example with a layer. A route added here is refused by the guard, since it has no rule.
    #[must_use]
    pub fn map(mut self, change: impl FnOnce(Router<S>) -> Router<S>) -> Self {
        self.router = change(self.router);
        self
    }

    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        for (path, rules) in other.rules.0 {
            self.rules.0.entry(path).or_default().extend(rules);
        }
        self
    }

    /// Gives the handlers their state, so that routes over different states can be merged. Without a state only the
    /// rules are left, which is all that the documentation needs.
    #[must_use]
    pub fn with_state(self, state: Option<S>) -> Routes {
        let router = state.map(|state| self.router.with_state(state));
        Routes {
            router: router.unwrap_or_default(),
            rules: self.rules,
        }
    }

    pub fn into_parts(self) -> (Router<S>, Rules) {
        (self.router, self.rules)
    }
}
