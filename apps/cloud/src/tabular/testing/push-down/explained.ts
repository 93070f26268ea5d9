/** What the store says it did for a query. */
import { asPlatformError } from '@platform/base';
import type { Plan, Scope } from '@platform/query';
import type { Tabular } from '../../tabular.ts';

export interface Explained {
  readonly text: string;
  readonly explain: unknown;
}

export async function explainOf(tabular: Tabular, plan: Plan, scope: Scope): Promise<Explained> {
  try {
    const result = await tabular.query({ plan, scope, vocabulary: 'core', explain: true });
    const explain = 'explain' in result ? result.explain : undefined;
    return { text: JSON.stringify(explain) ?? '', explain };
  } catch (caught) {
    return { text: asPlatformError(caught).message, explain: undefined };
  }
}

/** Whether a stage was pushed beyond what scope and time leave out. */
export function pushesBeyondTime({ explain }: Explained): boolean {
  return explain !== undefined;
}
