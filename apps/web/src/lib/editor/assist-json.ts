/** Completion and hover texts for JSON whose places have a schema. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { jsonLanguage } from '@codemirror/lang-json';
import type { Extension } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';
import { type Path, placeAt } from './json-place.ts';

/** The schema of a place. */
export interface PlaceSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, PlaceSchema>>;
}

export interface JsonAssist {
  /** @param text the whole text, which may be invalid JSON at the moment */
  readonly schemaAt: (text: string, path: Path) => PlaceSchema | undefined;
  /** Valid values at a place. */
  readonly valuesAt: (text: string, path: Path) => readonly string[];
}

export function assistJson(assist: JsonAssist): Extension {
  const complete = (context: CompletionContext): CompletionResult | null => {
    const { path, at, from, to } = placeAt(context.state, context.pos);
    const before = context.state.sliceDoc(from, context.pos);
    if (!context.explicit && !/["\w]$/.test(before)) return null;
    const text = context.state.doc.toString();
    const schema = assist.schemaAt(text, path);
    const options = at === 'name' ? nameOptions(schema, context) : valueOptions(schema, assist.valuesAt(text, path));
    return options.length === 0 ? null : { from, to, options, validFor: /^"?[\w:. -]*"?$/ };
  };
  return [
    jsonLanguage.data.of({ autocomplete: complete }),
    hoverTooltip((view, pos) => {
      const { path, at, from, to } = placeAt(view.state, pos);
      if (from === to) return null;
      const name = at === 'name' ? unquoted(view.state.sliceDoc(from, to)) : undefined;
      const schema = assist.schemaAt(view.state.doc.toString(), name === undefined ? path : [...path, name]);
      const words = schema && wordsOf(schema);
      if (!words) return null;
      return {
        pos: from,
        end: to,
        create: () => {
          const dom = document.createElement('div');
          dom.className = 'cm-words';
          dom.textContent = words;
          return { dom };
        },
      };
    }),
  ];
}

function nameOptions(schema: PlaceSchema | undefined, context: CompletionContext): Completion[] {
  const { to } = placeAt(context.state, context.pos);
  const hasColon = /^\s*:/.test(context.state.sliceDoc(to, to + 40));
  return Object.entries(schema?.properties ?? {}).map(([name, of]) => ({
    label: `"${name}"`,
    apply: hasColon ? `"${name}"` : `"${name}": ${emptyOf(of)}`,
    type: 'property',
    detail: of.type ?? '',
    info: wordsOf(of),
  }));
}

function valueOptions(schema: PlaceSchema | undefined, values: readonly string[]): Completion[] {
  const known = [...(schema?.type === 'boolean' ? [true, false] : []), ...(schema?.enum ?? []), ...values];
  return [...new Set(known)].map((value) => ({ label: JSON.stringify(value), type: 'constant' }));
}

function emptyOf({ type, default: value, enum: choices }: PlaceSchema): string {
  if (value !== undefined) return JSON.stringify(value);
  if (choices) return JSON.stringify(choices[0]);
  return type === 'object' ? '{}' : type === 'array' ? '[]' : type === 'string' ? '""' : '';
}

function wordsOf({ description = '', default: value }: PlaceSchema): string {
  return [description, value !== undefined && `Default: ${JSON.stringify(value)}.`]
    .filter(Boolean)
    .join('. ')
    .replace('..', '.');
}

function unquoted(text: string): string {
  return text.replace(/^"|"$/g, '');
}
