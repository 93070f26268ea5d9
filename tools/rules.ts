/** The numbered rules of docs/specs: I… of ingest, D… of decisions, R… of access and connections, C… of capture files, F… of faults. */
import { read, walk } from './repository.ts';

export interface Rule {
  /** For example I5. */
  readonly number: string;
  /** The page that defines it, relative to the root. */
  readonly page: string;
  /** Not implemented yet: no test can prove it. */
  readonly isPlanned: boolean;
}

const planned = /\(Planned[:.)]/;

/** The rules that a page defines: list items that begin with a number in bold. */
export function rulesIn(page: string, text: string): Rule[] {
  return [...text.matchAll(/^- \*\*([IDRCF]\d{1,2})\*\* (.*)$/gm)].map(([, number = '', words = '']) => ({
    number,
    page,
    isPlanned: planned.test(words),
  }));
}

export function allRules(): Rule[] {
  return walk(['docs/specs'], (path) => path.endsWith('.md')).flatMap((page) => rulesIn(page, read(page)));
}
