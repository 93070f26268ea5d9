/** The configuration as cards: one for each entry of its lists, such as resources, modules and triggers. Pure. */
import type { Json, JsonObject } from '@platform/machine-config/schema';

/** Lists of the document whose entries have cards, in the order of the page. */
export const sections = [
  { key: 'components', title: 'Components', one: 'component' },
  { key: 'services', title: 'Services', one: 'service' },
  { key: 'modules', title: 'Modules', one: 'module' },
  { key: 'fragments', title: 'Fragments', one: 'fragment' },
  { key: 'triggers', title: 'Triggers', one: 'trigger' },
  { key: 'processes', title: 'Processes', one: 'process' },
  { key: 'remotes', title: 'Remotes', one: 'remote' },
  { key: 'packages', title: 'Packages', one: 'package' },
  { key: 'jobs', title: 'Jobs', one: 'job' },
] as const;

export type Section = (typeof sections)[number]['key'];

export interface Card {
  readonly section: Section;
  /** Position in its list. */
  readonly index: number;
  /** As in problems, such as `components[0]`. */
  readonly path: string;
  readonly name: string;
  /** What it is, in a few words. */
  readonly kind: string;
  readonly entry: JsonObject;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The document, or undefined if the text is not a JSON object. */
export function documentOf(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function textOf(document: JsonObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The cards of a list. A value that is not a list, or an entry that is not an object, has none: only the JSON view shows it. */
export function cardsOf(document: JsonObject, section: Section): readonly Card[] {
  return listOf(document, section).flatMap((given, index) => {
    // A fragment may be its id alone.
    const entry = typeof given === 'string' && section === 'fragments' ? { id: given } : given;
    return isObject(entry)
      ? [{ section, index, path: `${section}[${index}]`, name: nameOf(entry), kind: kindOf(section, entry), entry }]
      : [];
  });
}

/** Keys that have no cards. */
export function otherKeys(document: JsonObject): readonly string[] {
  const carded: readonly string[] = sections.map(({ key }) => key);
  return Object.keys(document).filter((key) => !carded.includes(key));
}

/** The document with an entry changed, added (the index after the last) or removed (undefined); an emptied list is removed. */
export function withEntry(
  document: JsonObject,
  section: Section,
  index: number,
  entry: JsonObject | undefined,
): JsonObject {
  const list = listOf(document, section);
  const next = entry === undefined ? list.toSpliced(index, 1) : list.toSpliced(index, 1, entry);
  const { [section]: _, ...others } = document;
  return next.length === 0 ? others : { ...document, [section]: next };
}

/** The object with a value set, or (undefined) without its key. The order of keys stays. */
export function withKey(object: JsonObject, key: string, value: Json | undefined): JsonObject {
  const { [key]: _, ...others } = object;
  return value === undefined ? others : { ...object, [key]: value };
}

export function listOf(document: JsonObject, key: string): readonly Json[] {
  const list = document[key];
  return Array.isArray(list) ? list : [];
}

/** The API of a component or service, such as `core:component:sensor`; older spellings are accepted. */
export function apiOf(section: Section, entry: JsonObject): string {
  const { api, type, namespace } = entry;
  if (typeof api === 'string') return api.replace(/^rdk(?=:)/, 'core');
  if (typeof type !== 'string' || type === '') return '';
  const space = typeof namespace === 'string' && namespace !== 'rdk' ? namespace : 'core';
  return type.includes(':') ? type.replace(/^rdk(?=:)/, 'core') : `${space}:${section.slice(0, -1)}:${type}`;
}

/** The model in full, such as `core:builtin:fake`; a single word names a built-in model. */
export function modelOf(section: Section, { model }: JsonObject): string {
  if (typeof model !== 'string' || model === '') return section === 'services' ? 'core:builtin:builtin' : '';
  return model.includes(':') ? model.replace(/^rdk(?=:)/, 'core') : `core:builtin:${model}`;
}

/** Without the prefix that all built-in names share. */
export function shortName(name: string): string {
  return name.replace(/^core:(builtin|component|service):/, '');
}

/** A name that no entry of the list has yet. */
export function freeName(document: JsonObject, section: Section, wanted: string): string {
  const taken = new Set(listOf(document, section).map((entry) => (isObject(entry) ? nameOf(entry) : '')));
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!taken.has(name)) return name;
  }
}

function nameOf({ name, id }: JsonObject): string {
  if (typeof name === 'string' && name !== '') return name;
  return typeof id === 'string' ? id : '';
}

function kindOf(section: Section, entry: JsonObject): string {
  const text = (key: string): string => (typeof entry[key] === 'string' ? entry[key] : '');
  if (section === 'components' || section === 'services')
    return `${shortName(apiOf(section, entry)) || 'no type'} · ${shortName(modelOf(section, entry)) || 'no model'}`;
  if (section === 'modules') return text('module_id') || text('executable_path') || text('type');
  if (section === 'fragments')
    return [text('prefix') && `prefix ${text('prefix')}`, text('version')].filter(Boolean).join(' · ');
  if (section === 'triggers') return isObject(entry['event']) ? String(entry['event']['type'] ?? '') : '';
  if (section === 'packages') return text('package');
  return text('address') || text('schedule') || (section === 'processes' ? text('name') : '');
}
