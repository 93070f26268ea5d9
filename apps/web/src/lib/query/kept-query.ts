/** A query that was typed but not run. */
import { objectOf } from '../api/object-of.ts';
import { keep, readKept } from '../ui/kept.ts';
import type { QueryLanguage } from './run-query.ts';

export interface KeptQuery {
  /** The query in the address when it was typed: another link shows its own. */
  readonly of: string;
  readonly language: QueryLanguage;
  readonly text: string;
}

const keyOf = (organizationId: string): string => `query of ${organizationId}`;

/** @param of the query in the address; empty: none */
export function readQueryDraft(organizationId: string, of: string): KeptQuery | undefined {
  const { language, text, of: keptOf } = objectOf(readKept(keyOf(organizationId)));
  if (typeof text !== 'string' || keptOf !== of) return undefined;
  return { of, language: language === 'sql' ? 'sql' : 'mql', text };
}

/** Undefined forgets it. */
export function keepQueryDraft(organizationId: string, draft: KeptQuery | undefined): void {
  keep(keyOf(organizationId), draft);
}
