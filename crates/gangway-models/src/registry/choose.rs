//! Chooses the provider: the named one, the user's default, or the first that runs.

use std::sync::Arc;

use super::{Instance, Kind, State};

type Selection = (Arc<Instance>, Option<String>);

/// Names for the default.
const ANY: [&str; 3] = ["default", "auto", "gangway"];

impl State {
    /// The provider and model that `requested` names: `id/model`, `kind/model`, `id`, `kind`, or a model's name.
    pub(super) fn pick(&self, request: Option<&str>) -> Option<Selection> {
        let Some(request) = request.filter(|request| !request.is_empty() && !ANY.contains(request))
        else {
            return self.default();
        };
        if let Some(found) = self.named(request) {
            return Some(found);
        }
        let has = |one: &&Arc<Instance>| one.models().iter().any(|name| name == request);
        let default = self.default();
        let owner = match &default {
            Some((one, _)) if has(&one) => Some(Arc::clone(one)),
            _ => self.by_rank().into_iter().find(|one| has(&one)),
        };
        // An unknown name goes to the default provider, whose error is the most useful; one that names a provider is
        // never sent to another.
        let foreign = request.contains('/') || Kind::from_name(request).is_some();
        let owner = owner.or(default.map(|(one, _)| one).filter(|_| !foreign))?;
        Some((owner, Some(request.to_owned())))
    }

    pub(super) fn default(&self) -> Option<Selection> {
        match self.choice.as_deref() {
            // The user's choice is not replaced silently, even when it is gone.
            Some(choice) => self.named(choice),
            None => Some((self.by_rank().into_iter().next()?, None)),
        }
    }

    /// The instance with this id, or the default of this kind, with the model after a slash.
    fn named(&self, request: &str) -> Option<Selection> {
        let (head, model) = match request.split_once('/') {
            Some((head, model)) => (head, Some(model.to_owned()).filter(|m| !m.is_empty())),
            None => (request, None),
        };
        let by_id = self.instances.iter().find(|one| one.spec.id == head);
        let kind = || Kind::from_name(head).and_then(|kind| self.of_kind(kind));
        Some((by_id.or_else(kind).map(Arc::clone)?, model))
    }

    /// A kind's default: the instance of the same name, one that answers, or the first.
    pub(super) fn of_kind(&self, kind: Kind) -> Option<&Arc<Instance>> {
        let mut same = self.instances.iter().filter(|one| one.spec.kind == kind);
        let own_name = same.clone().find(|one| one.spec.id == kind.name());
        let answers = same.clone().find(|one| one.is_available());
        own_name.or(answers).or_else(|| same.next())
    }

    /// All candidates, local ones first.
    fn by_rank(&self) -> Vec<Arc<Instance>> {
        let mut able: Vec<_> = self
            .instances
            .iter()
            .filter(|one| one.is_promising() || one.is_set_up())
            .collect();
        able.sort_by_key(|one| {
            let is_first = self
                .of_kind(one.spec.kind)
                .is_some_and(|first| first.spec.id == one.spec.id);
            // A configured one that does not answer comes last, so that its error is reported.
            (!one.is_promising(), one.spec.kind.rank(), !is_first)
        });
        able.into_iter().map(Arc::clone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::BoxFuture;

    use crate::{
        ChatRequest, ChatStream, ModelError,
        registry::{Health, Spec},
    };

    /// An embedded provider that is never called.
    struct Unused;

    impl crate::Provider for Unused {
        fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
            unreachable!()
        }

        fn chat(&self, _: ChatRequest) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
            unreachable!()
        }
    }

    fn instance(id: &str, kind: Kind, models: Option<&[&str]>) -> Arc<Instance> {
        let mut spec = Spec::new(id, kind);
        spec.base_url = Some("http://127.0.0.1:1".into());
        let instance = Instance::new(spec, Arc::new(Unused));
        if let Some(models) = models {
            let models = models.iter().map(|name| (*name).to_owned()).collect();
            instance.set(Health::Up {
                models,
                tools: true,
            });
        }
        Arc::new(instance)
    }

    fn state(instances: &[Arc<Instance>], choice: Option<&str>) -> State {
        State {
            instances: instances.to_vec(),
            choice: choice.map(str::to_owned),
        }
    }

    fn pick(state: &State, request: &str) -> Option<(String, Option<String>)> {
        let request = Some(request).filter(|request| !request.is_empty());
        let (one, model) = state.pick(request)?;
        Some((one.spec.id.clone(), model))
    }

    fn found(id: &str, model: Option<&str>) -> Option<(String, Option<String>)> {
        Some((id.to_owned(), model.map(str::to_owned)))
    }

    #[test]
    fn without_a_choice_ollama_goes_before_llamafile_a_key_and_the_embedded_model() {
        let all = [
            instance("embedded", Kind::Embedded, Some(&["small"])),
            instance("openai", Kind::OpenAi, Some(&["gpt"])),
            instance("llamafile", Kind::Llamafile, Some(&["file"])),
            instance("ollama", Kind::Ollama, Some(&["llama"])),
        ];
        for (left, expected) in [
            (4, "ollama"),
            (3, "llamafile"),
            (2, "openai"),
            (1, "embedded"),
        ] {
            assert_eq!(pick(&state(&all[..left], None), ""), found(expected, None));
        }
        assert_eq!(pick(&state(&[], None), ""), None);
        assert_eq!(pick(&state(&all, Some("gone/model")), ""), None);
        assert_eq!(
            pick(&state(&all, Some("openai/gpt")), ""),
            found("openai", Some("gpt"))
        );
        assert_eq!(
            pick(&state(&all, Some("embedded")), "auto"),
            found("embedded", None)
        );
    }

    #[test]
    fn what_does_not_run_is_passed_over_unless_the_user_chose_it() {
        let all = [
            instance("ollama", Kind::Ollama, None),
            instance("embedded", Kind::Embedded, Some(&["small"])),
        ];
        assert_eq!(pick(&state(&all, None), ""), found("embedded", None));
        assert_eq!(
            pick(&state(&all, Some("ollama")), ""),
            found("ollama", None)
        );
        assert_eq!(
            pick(&state(&all, None), "ollama/llama"),
            found("ollama", Some("llama"))
        );
    }

    #[test]
    fn an_instance_id_beats_a_kind_and_a_kind_means_its_default() {
        let all = [
            instance("home", Kind::Ollama, Some(&["a"])),
            instance("nas", Kind::Ollama, Some(&["b"])),
            instance("work", Kind::OpenAi, Some(&["gpt", "meta/llama"])),
        ];
        let state = state(&all, None);
        assert_eq!(pick(&state, "nas"), found("nas", None));
        assert_eq!(pick(&state, "nas/b:1b"), found("nas", Some("b:1b")));
        assert_eq!(pick(&state, "ollama"), found("home", None));
        assert_eq!(pick(&state, "openai/gpt"), found("work", Some("gpt")));
        // Names of models, even with a slash, are looked up in all providers.
        assert_eq!(pick(&state, "gpt"), found("work", Some("gpt")));
        assert_eq!(
            pick(&state, "meta/llama"),
            found("work", Some("meta/llama"))
        );
        assert_eq!(
            pick(&state, "unheard-of"),
            found("home", Some("unheard-of"))
        );
        // A mistyped or unconfigured provider is not replaced by another.
        for request in ["opneai/gpt", "anthropic/claude", "anthropic", "home2/a"] {
            assert_eq!(pick(&state, request), None, "{request}");
        }
    }

    #[test]
    fn the_instance_with_the_name_of_its_kind_is_that_kinds_default() {
        let all = [
            instance("a", Kind::Ollama, Some(&["x"])),
            instance("ollama", Kind::Ollama, Some(&["x"])),
        ];
        assert_eq!(pick(&state(&all, None), ""), found("ollama", None));
        let asleep = [
            instance("a", Kind::Ollama, Some(&["x"])),
            instance("ollama", Kind::Ollama, None),
        ];
        assert_eq!(pick(&state(&asleep, None), "ollama"), found("ollama", None));
        assert_eq!(pick(&state(&asleep, None), ""), found("a", None));
    }
}
