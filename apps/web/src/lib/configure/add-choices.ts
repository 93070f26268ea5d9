/** What can be added to a configuration, what fits the typed words best first. Pure. */
import { hasDataManager } from '@platform/machine-config/first-configuration';
import type { JsonObject } from '@platform/machine-config/schema';
import { type Section, shortName } from './document.ts';
import { type ModelChoice, modelChoices } from './schemas.ts';

export interface AddChoice {
  readonly section: Section;
  /** Undefined: an entry that is no resource. */
  readonly model: ModelChoice | undefined;
  /** What it is, in one or two words. */
  readonly kind: string;
  /** Of a resource: its model. */
  readonly name: string;
  readonly about: string;
}

/** Lists that the machine-server does not use yet are not offered: `processes` and `jobs`. Triggers have a page of their own. */
const others: readonly AddChoice[] = [
  { section: 'modules', kind: 'module', about: 'A program that provides more models.' },
  { section: 'fragments', kind: 'fragment', about: 'A piece of configuration that many machines share.' },
  { section: 'packages', kind: 'package', about: 'An archive that the machine downloads.' },
  { section: 'remotes', kind: 'remote', about: 'Another machine, whose resources this one has as its own.' },
].map((one) => ({ ...one, model: undefined, name: '' }) as AddChoice);

const all: readonly AddChoice[] = [
  ...modelChoices.map((model) => ({
    section: model.section,
    model,
    kind: shortName(model.api).replaceAll('_', ' '),
    name: shortName(model.model),
    about: model.about,
  })),
  ...others,
];

/**
 * @param text words, all of which have to occur; empty: everything
 * @param document the configuration. The machine-server ignores a second data manager, so it is not offered.
 */
export function addChoices(text: string, document: JsonObject): readonly AddChoice[] {
  const left = hasDataManager(document) ? all.filter(({ kind }) => kind !== 'data manager') : all;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return left
    .flatMap((choice) => {
      const fits = words.map((word) => fitOf(choice, word));
      return fits.includes(Number.POSITIVE_INFINITY) ? [] : [{ choice, fit: fits.reduce((sum, one) => sum + one, 0) }];
    })
    .toSorted((a, b) => a.fit - b.fit)
    .map(({ choice }) => choice);
}

/** 0: the word is its kind or name; infinite: it does not occur. */
function fitOf({ kind, name, about, model }: AddChoice, word: string): number {
  const own = [kind, name].map((one) => one.toLowerCase());
  if (own.includes(word)) return 0;
  if (own.some((one) => one.split(/[\s_-]/).some((part) => part.startsWith(word)))) return 1;
  if (own.some((one) => one.includes(word)) || `${model?.api} ${model?.model}`.includes(word)) return 2;
  return about.toLowerCase().includes(word) ? 3 : Number.POSITIVE_INFINITY;
}
