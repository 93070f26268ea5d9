/**
 * The text editor (CodeMirror 6), loaded when a page first needs it. It lives in a shadow root, because there its styles are adopted style
 * sheets, which the content security policy allows; style elements it would refuse.
 */
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { sql } from '@codemirror/lang-sql';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { linter, lintGutter } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export type Language = 'json' | 'sql';

export interface EditorOptions {
  readonly text: string;
  readonly language: Language;
  /** For screen readers. */
  readonly label: string;
  readonly readOnly?: boolean;
  /** Shows what differs from this text, in place of line numbers of errors. */
  readonly before?: string;
  readonly onchange?: (text: string) => void;
  /** Ctrl-Enter. */
  readonly onrun?: () => void;
  /** Ctrl-S. */
  readonly onsave?: () => void;
}

export interface MountedEditor {
  setText(text: string): void;
  setLanguage(language: Language): void;
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
  '.cm-changedLine': { backgroundColor: 'var(--ok-soft) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft) !important' },
  '.cm-changedText': { background: 'none !important', textDecoration: 'none' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.keyword], color: 'var(--chart-2)' },
  { tag: [tags.string], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--accent)' },
  { tag: [tags.comment], color: 'var(--quiet)' },
]);

function languageOf(language: Language): Extension {
  return language === 'json' ? [json(), linter(jsonParseLinter()), lintGutter()] : sql({ upperCaseKeywords: true });
}

export function mountEditor(host: HTMLElement, options: EditorOptions): MountedEditor {
  const { text, language, label, readOnly = false, before, onchange, onrun, onsave } = options;
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
        autocompletion(),
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
        // A number, because only that tells checkers that the text can be reached, and scrolled, by keyboard.
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onchange?.(update.state.doc.toString());
        }),
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
    destroy: () => view.destroy(),
  };
}
