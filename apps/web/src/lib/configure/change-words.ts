/** What a version of a configuration changed, in words, such as "added component cam and changed 2 attributes of motor left". Pure. */
import type { Json, JsonObject } from '@platform/machine-config/schema';
import { shortText } from '../ui/short-text.ts';
import { apiOf, type Card, cardsOf, isObject, listOf, otherKeys, type Section, sections } from './document.ts';
import { isEqual } from './merge.ts';

/** More names are counted. */
const mostNamed = 3;

export function changeWords(before: JsonObject, after: JsonObject): string {
  const phrases = [
    ...sections.flatMap((section) => sectionPhrases(section, before, after)),
    ...[...new Set([...otherKeys(before), ...otherKeys(after)])].flatMap((key) =>
      keyPhrases(key, before[key], after[key]),
    ),
  ];
  return phrases.length > 0 ? listWords(phrases) : 'changed only how it is written';
}

/** Such as "a, b and c". */
export function listWords(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

function sectionPhrases(
  { key, one }: (typeof sections)[number],
  before: JsonObject,
  after: JsonObject,
): readonly string[] {
  const [old, next] = [entriesOf(before, key), entriesOf(after, key)];
  const added = [...next].filter(([id]) => !old.has(id)).map(([, card]) => card);
  const removed = [...old].filter(([id]) => !next.has(id)).map(([, card]) => card);
  const renamed = removed.flatMap((was) => {
    const is = added.find((card) => isEqual(withoutName(was.entry), withoutName(card.entry)));
    if (is === undefined || key === 'fragments') return [];
    added.splice(added.indexOf(is), 1);
    return [{ was, is }];
  });
  const gone = removed.filter((card) => !renamed.some(({ was }) => was === card));
  const stayed = [...next].flatMap(([id, is]) => {
    const was = old.get(id);
    return was === undefined ? [] : [{ was, is }];
  });
  const phrases = [
    ...countPhrase('added', one, added),
    ...countPhrase('removed', one, gone),
    ...renamed.map(({ was, is }) => `renamed ${kindOf(was)} ${nameOf(was)} to ${nameOf(is)}`),
    ...stayed.flatMap(({ was, is }) => entryPhrases(was, is)),
  ];
  if (phrases.length > 0 || isEqual(before[key] ?? [], after[key] ?? [])) return phrases;
  // Only their order, or something that has no card.
  const [was, is] = [listOf(before, key), listOf(after, key)];
  const isMoved = was.length === is.length && was.every((entry) => is.some((other) => isEqual(entry, other)));
  return [isMoved && was.length > 0 ? `changed the order of ${one}s` : `changed ${key}`];
}

/** Entries by what identifies them, in their order. */
function entriesOf(document: JsonObject, section: Section): ReadonlyMap<string, Card> {
  const found = new Map<string, Card>();
  for (const card of cardsOf(document, section)) {
    const id = `${apiOf(section, card.entry)}/${card.name}`;
    // Two entries of one name are an error, which can be saved in a fragment.
    let number = 1;
    while (found.has(`${id}#${number}`)) number += 1;
    found.set(`${id}#${number}`, card);
  }
  return found;
}

function countPhrase(done: string, one: string, cards: readonly Card[]): readonly string[] {
  if (cards.length === 0) return [];
  const named = cards.slice(0, cards.length === mostNamed + 1 ? mostNamed + 1 : mostNamed).map(nameOf);
  const others = cards.length - named.length;
  const names = listWords(others > 0 ? [...named, `${others} more`] : named);
  return [`${done} ${cards.length === 1 ? one : `${cards.length} ${one}s:`} ${names}`];
}

function entryPhrases(was: Card, is: Card): readonly string[] {
  if (isEqual(was.entry, is.entry)) return [];
  const who = `${kindOf(is)} ${nameOf(is)}`;
  const phrases: string[] = [];
  const others: string[] = [];
  for (const key of new Set([...Object.keys(was.entry), ...Object.keys(is.entry)])) {
    const [old, next] = [was.entry[key], is.entry[key]];
    if (isEqual(old, next)) continue;
    if (key === 'disabled' && (next === true || old === true))
      phrases.push(`${next === true ? 'dis' : 'en'}abled ${who}`);
    else if (key === 'attributes') phrases.push(`changed ${attributeWords(old, next)} of ${who}`);
    else if (key === 'service_configs') phrases.push(`changed what is captured of ${who}`);
    else others.push(key);
  }
  return others.length === 0 ? phrases : [...phrases, `changed ${listWords(others.map(plain))} of ${who}`];
}

function attributeWords(was: Json | undefined, is: Json | undefined): string {
  if (!isObject(was ?? {}) || !isObject(is ?? {})) return 'the attributes';
  const [old, next] = [(was ?? {}) as JsonObject, (is ?? {}) as JsonObject];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(next)])].filter((key) => !isEqual(old[key], next[key]));
  return keys.length === 1 ? `attribute ${plain(keys[0] ?? '')}` : `${keys.length} attributes`;
}

function keyPhrases(key: string, was: Json | undefined, is: Json | undefined): readonly string[] {
  if (isEqual(was, is)) return [];
  return [`${was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'} ${plain(key)}`];
}

/** What an entry is, in one word: the type of a resource, such as motor. */
function kindOf({ section, entry }: Card): string {
  const type = section === 'components' || section === 'services' ? apiOf(section, entry).split(':').at(-1) : '';
  return type ? plain(type) : (sections.find(({ key }) => key === section)?.one ?? '');
}

function nameOf({ name }: Card): string {
  return name === '' ? 'without a name' : plain(name);
}

function withoutName({ name: _, ...others }: JsonObject): JsonObject {
  return others;
}

/** Short, on one line, and in its own direction of writing: the name may be anything. */
function plain(name: string): string {
  const text = shortText(name.replaceAll(/\s+/g, ' '), mostShown);
  return turning.test(text) ? `\u2068${text.replaceAll(controls, '')}\u2069` : text;
}

const mostShown = 60;
/** Characters that set a direction of writing, and those and letters that are written from right to left. */
const controls = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;
const turning = /[\u0590-\u08FF\u200E\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFDFF\uFE70-\uFEFC]/;
