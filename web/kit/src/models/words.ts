// What the page says about models, and what there is to choose from.
import type { DefaultModel, ModelInfo, ProviderInfo } from "@gangway/client";

/** The parts of the state that these words need. */
export interface Known {
  all: readonly ProviderInfo[];
  models: readonly ModelInfo[];
  default: DefaultModel | null;
  choice: string | null;
}

/** A model by its name and its provider's, e.g. `qwen3:8b on Ollama`. */
export function modelInWords(
  model: DefaultModel,
  all: readonly ProviderInfo[],
): string {
  const name = find(all, model.provider)?.name ?? model.provider;
  return model.model ? `${model.model} on ${name}` : name;
}

/** What answers, and why it is this one. */
export function defaultInWords(known: Known): string {
  const { all, choice } = known;
  const chosen = choice === null ? null : split(choice);
  if (!known.default) {
    return chosen
      ? `You chose ${modelInWords(chosen, all)}, but no model is available.`
      : "No model is available yet.";
  }
  const answers = modelInWords(known.default, all);
  if (!chosen) return `Automatic: using ${answers}.`;
  const provider = find(all, known.default.provider);
  const kept =
    chosen.provider === known.default.provider ||
    chosen.provider === provider?.type;
  if (!kept) {
    return `You chose ${modelInWords(chosen, all)}, which is unavailable. Using ${answers} instead.`;
  }
  return provider?.available === false
    ? `You chose ${answers}, which is unavailable.`
    : `Using ${answers}.`;
}

export interface Group {
  name: string;
  options: { id: string; name: string }[];
}

/** What can be chosen, by provider; one that lists no models can be chosen as a whole. */
export function groupsOf({ all, models, choice }: Known): Group[] {
  const groups: Group[] = all
    .filter(({ available }) => available)
    .map(({ id, name }) => {
      const own = models.filter(({ provider }) => provider === id);
      const whole = { id, name: `${name} (its default model)` };
      return { name, options: own.length > 0 ? own : [whole] };
    });
  const listed = groups.some(({ options }) =>
    options.some(({ id }) => id === choice),
  );
  if (choice === null || listed) return groups;
  const chosen = split(choice);
  const there = !chosen.model && find(all, chosen.provider)?.available;
  const name = modelInWords(chosen, all);
  const option = there ? `${name} (its default model)` : name;
  const title = there ? "Chosen" : "Chosen (unavailable)";
  return [{ name: title, options: [{ id: choice, name: option }] }, ...groups];
}

function find(
  all: readonly ProviderInfo[],
  id: string,
): ProviderInfo | undefined {
  return all.find((provider) => provider.id === id);
}

/** Names of models may hold slashes, those of providers do not. */
function split(choice: string): DefaultModel {
  const slash = choice.indexOf("/");
  if (slash < 0) return { provider: choice };
  return { provider: choice.slice(0, slash), model: choice.slice(slash + 1) };
}
