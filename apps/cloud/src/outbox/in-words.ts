/** What happened, in words, for subjects and lists: value and threshold, names, times. Pure. */
import { evalsOf, type JsonObject, type MetEval } from '@platform/conditions';
import { timeInZone } from '../text-rules/time-zone.ts';
import type { TriggerEvent } from './event.ts';

/** Maximum characters of a name or value: names may have kilobytes. */
const maxName = 80;
const maxValue = 60;
/** Maximum evals in a line. */
const maxEvals = 3;

/** One line: what happened, and on which machine, such as "oven: temperature 22.4 is below 25". @param zone of the reader */
export function summaryOf(event: TriggerEvent, zone = 'UTC'): string {
  const { robotName } = event.place;
  return `${event.isTest ? 'test, nothing has happened: ' : ''}${nameInText(robotName)}${whatHappened(event, zone)}`;
}

function whatHappened(event: TriggerEvent, zone: string): string {
  const { type, data, change, logs } = event;
  const what = type.replaceAll('_', ' ');
  if (type === 'part_online') return ' is online';
  if (type === 'part_offline') return ' is offline';
  if (logs !== undefined) return `: ${linesText(logs)}`;
  const evals = conditionText(event);
  if (change?.to === 'recovered')
    return ` has recovered: ${subjectText(change.subject, evals || what)}${sourceOf(event)}`;
  if (evals !== '') return `: ${evals}${reasonOf(event, zone)}${sourceOf(event)}`;
  if (change !== undefined) {
    const about = type === 'conditional_data_ingested' ? '' : `${subjectText(change.subject, what)}: `;
    return `: ${about}${withZone(change.reason, zone)}${sourceOf(event)}`;
  }
  const source = data === undefined ? 'data' : `${nameInText(data.componentName)} ${data.methodName}`;
  return `: ${source} ${type === 'conditional_data_ingested' ? 'met the condition' : 'arrived'}`;
}

function linesText({ entries, omitted }: NonNullable<TriggerEvent['logs']>): string {
  const count = entries.length + omitted;
  const { message = '' } = Object(entries[0]) as { message?: unknown };
  return `${count} ${count === 1 ? 'line' : 'lines'} in the log: ${short(String(message), 2 * maxValue)}`;
}

function subjectText(subject: string, what: string): string {
  return subject === '' ? what : `${what} (${nameInText(subject)})`;
}

/** The component, unless it is called like the machine. */
function sourceOf({ data, place }: TriggerEvent): string {
  if (data === undefined || data.componentName === place.robotName || data.componentName === '') return '';
  return ` (${nameInText(data.componentName)})`;
}

/** Why a trigger with states fired, beyond one reading. */
function reasonOf({ change }: TriggerEvent, zone: string): string {
  return change === undefined || change.reason === 'a reading met the conditions'
    ? ''
    : `; ${withZone(change.reason, zone)}`;
}

/** Empty: there is no reading, or no condition on it. */
function conditionText({ condition, data, change }: TriggerEvent): string {
  const reading = data?.reading?.data;
  if (reading === undefined || condition === undefined) return '';
  const all = evalsOf(condition, reading as JsonObject);
  const shown = change?.to === 'recovered' ? all : all.filter(({ isMet }) => isMet);
  const words = shown.slice(0, maxEvals).map(evalText);
  if (shown.length > maxEvals) words.push(`${shown.length - maxEvals} more`);
  return words.join(' and ');
}

const orders: Readonly<Record<string, readonly [met: string, unmet: string]>> = {
  lt: ['is below', 'is not below'],
  lte: ['is at most', 'is above'],
  gt: ['is above', 'is not above'],
  gte: ['is at least', 'is below'],
};

function evalText({ path, operator, operand, value, isMet }: MetEval): string {
  const name = short(path.replace(/^readings\./, ''), maxName);
  const [is, wanted] = [
    short(typeof value === 'string' ? value : JSON.stringify(value), maxValue),
    short(operand, maxValue),
  ];
  const order = orders[operator];
  if (order !== undefined) return `${name} ${is} ${order[isMet ? 0 : 1]} ${wanted}`;
  if (operator === 'regex') return `${name} ${is} ${isMet ? 'matches' : 'does not match'} ${wanted}`;
  return is === wanted ? `${name} is ${is}` : `${name} is ${is}, not ${wanted}`;
}

/** A time with the name of its zone. @param at ms, or RFC 3339. @param zone of the reader */
export function timeInText(at: number | string, zone = 'UTC'): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : timeInZone(time, zone);
}

/** Replaces times of RFC 3339 by those that people read. @param zone of the reader */
export function withZone(text: string, zone = 'UTC'): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (at) => timeInText(at, zone));
}

/**
 * A name within a line: shortened, without line breaks and invisible signs that turn the direction of text; one in a script from right to
 * left does not turn what is around it.
 */
export function nameInText(name: string): string {
  const shown = short(name, maxName);
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(shown)
    ? `\u2068${shown}\u2069`
    : shown;
}

function short(text: string, most: number): string {
  const line = text
    .slice(0, 4 * most)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
  const characters = [...line];
  return characters.length <= most && text.length <= 4 * most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
