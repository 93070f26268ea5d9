/** Marks problems in a text. */
import { jsonParseLinter } from '@codemirror/lang-json';
import { type Diagnostic, linter } from '@codemirror/lint';
import { type EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { type Path, rangeOf } from './json-place.ts';

export interface TextProblem {
  /** A place of JSON, or a line and column from 1. */
  readonly at: { readonly path: Path } | { readonly line: number; readonly column: number };
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export const setProblems = StateEffect.define<readonly TextProblem[]>();
const problemsField = StateField.define<readonly TextProblem[]>({
  create: () => [],
  update: (value, { effects }) => effects.reduce((now, effect) => (effect.is(setProblems) ? effect.value : now), value),
});
const parseJson = jsonParseLinter();

/** Marks problems at their places; in invalid JSON, only the syntax error. */
export function problemMarks(isJson: boolean): Extension {
  const marks = (view: EditorView): readonly Diagnostic[] => {
    const broken = isJson ? parseJson(view) : [];
    if (broken.length > 0) return broken;
    return view.state
      .field(problemsField)
      .map(({ at, severity, message }) => ({ ...placeOf(view.state, at), severity, message }));
  };
  const needsRefresh = ({
    transactions,
  }: {
    readonly transactions: readonly { readonly effects: readonly StateEffect<unknown>[] }[];
  }): boolean => transactions.some(({ effects }) => effects.some((one) => one.is(setProblems)));
  return [problemsField, linter(marks, { delay: 200, needsRefresh })];
}

function placeOf(state: EditorState, at: TextProblem['at']): { readonly from: number; readonly to: number } {
  if ('path' in at) return rangeOf(state, at.path);
  const line = state.doc.line(Math.max(1, Math.min(at.line, state.doc.lines)));
  const from = Math.min(line.from + Math.max(0, at.column - 1), line.to);
  const word = state.wordAt(from);
  return { from, to: word?.to ?? Math.min(from + 1, line.to) };
}
