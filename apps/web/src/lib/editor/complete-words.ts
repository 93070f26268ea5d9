/** Completes words that a page knows, such as fields of stored readings. */
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { EditorState, type Extension } from '@codemirror/state';

export interface Word {
  readonly label: string;
  /** What it is. */
  readonly detail: string;
}

/** @param words called at each completion */
export function completeWords(words: () => readonly Word[]): Extension {
  const complete = (context: CompletionContext): CompletionResult | null => {
    const typed = context.matchBefore(/[$\w.-]+/);
    if (typed === null && !context.explicit) return null;
    // A reference to a field: "$data.readings.heat".
    const isReference = typed !== null && /^\$(?![a-z]+$)|^\$d/.test(typed.text);
    const from =
      (typed?.from ?? context.pos) +
      (isReference && !words().some(({ label }) => label.startsWith(typed.text)) ? 1 : 0);
    return {
      from,
      options: words().map(({ label, detail }) => ({ label, detail, type: 'text' })),
      validFor: /^[$\w.-]*$/,
    };
  };
  return EditorState.languageData.of(() => [{ autocomplete: complete }]);
}
