/**
 * The text editor (CodeMirror 6), loaded when a page first needs it. It lives in a shadow root: there its styles are adopted style sheets,
 * which the content security policy allows, unlike style elements.
 */
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { sql } from '@codemirror/lang-sql';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { assistJson, type JsonAssist } from './assist-json.ts';
import { completeWords, type Word } from './complete-words.ts';
import { problemMarks, setProblems, type TextProblem } from './problem-marks.ts';

export type Language = 'json' | 'sql';

export interface EditorOptions {
  readonly text: string;
  readonly language: Language;
  /** For screen readers. */
  readonly label: string;
  readonly readOnly?: boolean;
  /** Shows the differences from this text. */
  readonly before?: string;
  readonly onchange?: (text: string) => void;
  /** Schema of its places, for completion and hover. */
  readonly assist?: JsonAssist;
  /** Words to complete; called at each completion. */
  readonly words?: () => readonly Word[];
  /** Ctrl-Enter. */
  readonly onrun?: () => void;
  /** Ctrl-S. */
  readonly onsave?: () => void;
}

export interface MountedEditor {
  setText(text: string): void;
  setLanguage(language: Language): void;
  /** Marks problems at their places. */
  setProblems(problems: readonly TextProblem[]): void;
  destroy(): void;
}

const look = EditorView.theme({
  '&': { fontSize: '12.5px', color: 'var(--ink)', backgroundColor: 'var(--panel)', height: '100%' },
  '.cm-scroller': { fontFamily: "'JetBrains Mono Variable', ui-monospace, monospace", lineHeight: '1.55' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--quiet)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-tooltip, .cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--ink)',
  },
  '.cm-completionInfo': { maxWidth: '44ch' },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
  '.cm-collapsedLines': { color: 'var(--quiet)', background: 'var(--raised)' },
  '.cm-words': { padding: '4px 8px', maxWidth: '44ch' },
  '.cm-changedLine': { backgroundColor: 'var(--ok-soft) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft) !important' },
  '.cm-changedText': { background: 'none !important', textDecoration: 'none' },
  // Its own background would leave too little contrast.
  '.cm-deletedText': { background: 'none !important', textDecoration: 'line-through' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.keyword], color: 'var(--chart-2)' },
  { tag: [tags.string], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--accent)' },
  { tag: [tags.comment], color: 'var(--quiet)' },
]);

function languageOf(language: Language): Extension {
  return language === 'json'
    ? [json(), problemMarks(true), lintGutter()]
    : [sql({ upperCaseKeywords: true }), problemMarks(false), lintGutter()];
}

export function mountEditor(host: HTMLElement, options: EditorOptions): MountedEditor {
  const { text, language, label, readOnly = false, before, assist, words, onchange, onrun, onsave } = options;
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const chosen = new Compartment();
  const does = (act: (() => void) | undefined) => () => {
    act?.();
    return act !== undefined;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([
          { key: 'Mod-Enter', run: does(onrun) },
          { key: 'Mod-s', run: does(onsave), preventDefault: true },
        ]),
        lineNumbers(),
        foldGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        highlightActiveLine(),
        highlightSelectionMatches(),
        keymap.of([
          ...completionKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        look,
        syntaxHighlighting(colours),
        chosen.of(languageOf(language)),
        EditorView.lineWrapping,
        // Only an explicit tabindex tells accessibility checkers that the keyboard can reach and scroll the text.
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onchange?.(update.state.doc.toString());
        }),
        ...(assist === undefined ? [] : [assistJson(assist)]),
        ...(words === undefined ? [] : [completeWords(words)]),
        ...(readOnly ? [EditorState.readOnly.of(true)] : []),
        ...(before === undefined
          ? []
          : [unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3 } })]),
      ],
    }),
  });
  return {
    setText(next) {
      if (next !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    setLanguage: (next) => view.dispatch({ effects: chosen.reconfigure(languageOf(next)) }),
    setProblems: (problems) => view.dispatch({ effects: setProblems.of(problems) }),
    destroy: () => view.destroy(),
  };
}
