/** What the palette finds in the cloud by the typed text. */
import { problemOf } from '../api/problem.ts';

export interface Named {
  readonly kind: 'trigger' | 'component' | 'dashboard' | 'invoice' | 'delivery';
  readonly name: string;
  /** Below the pages of the organization. */
  readonly path: string;
}

/** Where named things come from; `named-sources.ts` has those of the cloud. */
export interface NamedSources {
  /** Lists that are short enough to be searched here: each is asked for once, or again after the cloud was away. */
  readonly whole: readonly (() => Promise<readonly Named[]>)[];
  /** Lists that the cloud searches. */
  readonly byText: readonly ((text: string, signal: AbortSignal) => Promise<readonly Named[]>)[];
}

export interface FoundNamed {
  readonly found: readonly Named[];
  /** The cloud did not answer to all. */
  readonly isAway: boolean;
}

/** Of one list. */
const most = 20;

/** @returns what is found by a text, without lists that the person may not read, or that could not be asked for */
export function createFindNamed({
  whole,
  byText,
}: NamedSources): (text: string, signal: AbortSignal) => Promise<FoundNamed> {
  let lists: readonly Promise<readonly Named[]>[] | undefined;
  return async (text, signal) => {
    lists ??= whole.map((ask) => ask());
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ name }: Named): boolean => words.every((word) => name.toLowerCase().includes(word));
    const answers = await Promise.allSettled([
      ...lists.map(async (list) => (await list).filter(fits)),
      ...byText.map((ask) => ask(text, signal)),
    ]);
    const isAway = answers.some((one) => one.status === 'rejected' && problemOf(one.reason).isAway === true);
    if (isAway) lists = undefined;
    return {
      found: answers.flatMap((one) => (one.status === 'fulfilled' ? one.value.slice(0, most) : [])),
      isAway,
    };
  };
}
