/** What versions of a part's configuration changed, in words: each is compared with the one before it, and their documents never change. */
import { Code, ConnectError } from '@connectrpc/connect';
import type { ConfigurationVersion } from '@platform/proto/platform/fleet/v1/fleet';
import { changeWords } from '../configure/change-words.ts';
import { documentOf } from '../configure/document.ts';
import { type HistoryEntry, whoOf } from '../configure/history-entry.ts';
import { dateOf } from '../ui/time.ts';

/** Calls at once: a browser has six connections to a cloud. */
const atOnce = 3;
/** Versions whose documents are kept in memory between calls; each may have 1 MiB. */
const mostKept = 20;

export interface VersionWords {
  /** The words that are known. */
  readonly known: ReadonlyMap<bigint, string>;
  /**
   * Learns the words of versions; calls `onmore` after each few of them.
   *
   * @param versions newest first; each `number - 1` is the one before
   * @throws what `load` throws
   */
  learn(versions: readonly bigint[], onmore: () => void): Promise<void>;
}

/** @param load the document of a version, as text. @throws failed_precondition if it is no longer stored */
export function createVersionWords(load: (version: bigint) => Promise<string>): VersionWords {
  const known = new Map<bigint, string>();
  const texts = new Map<bigint, Promise<string | undefined>>();
  const textOf = (version: bigint): Promise<string | undefined> => {
    if (version === 0n) return Promise.resolve('{}');
    const kept = texts.get(version);
    if (kept !== undefined) return kept;
    const text = load(version).catch((caught: unknown) => {
      if (ConnectError.from(caught).code === Code.FailedPrecondition) return undefined;
      texts.delete(version);
      throw caught;
    });
    texts.set(version, text);
    const [oldest] = texts.keys();
    if (texts.size > mostKept && oldest !== undefined) texts.delete(oldest);
    return text;
  };
  const describe = async (version: bigint): Promise<void> => {
    const [after, before] = await Promise.all([textOf(version), textOf(version - 1n)]);
    known.set(version, wordsOf(before, after));
  };
  return {
    known,
    async learn(versions, onmore) {
      const wanted = versions.filter((version) => !known.has(version));
      for (let at = 0; at < wanted.length; at += atOnce) {
        await Promise.all(wanted.slice(at, at + atOnce).map(describe));
        onmore();
      }
    },
  };
}

/** @param before text of a document; undefined: it is no longer stored */
function wordsOf(before: string | undefined, after: string | undefined): string {
  if (after === undefined) return 'saved it; what it had is no longer stored';
  if (before === undefined) return 'changed it; the version before is no longer stored';
  return changeWords(documentOf(before) ?? {}, documentOf(after) ?? {});
}

export function entryOf(one: ConfigurationVersion, what: string | undefined): HistoryEntry {
  const { version, author, savedAt, restoredFrom } = one;
  return {
    ...{ number: String(version), at: dateOf(savedAt), what },
    who: whoOf(author?.kind ?? '', author?.name ?? ''),
    restored: restoredFrom > 0n ? String(restoredFrom) : '',
  };
}
