/** Parses the `notifications` of a trigger: an array as in every template, or one object as in the attribute table (D18, D19). */

import { asPlatformError } from '@platform/base';
import { maxNameBytes } from '@platform/machine-config/limits';
import { channelNames } from '../../outbox/store.ts';
import { webhookUrl } from '../../outbox/webhook/target-guard.ts';
import { triggerKinds } from '../kinds/registry.ts';
import { notificationKey } from '../throttle.ts';
import type { Notification } from '../trigger.ts';
import { isObject, type JsonObject, keyText, kindOf, shown, warnUnknown } from './json.ts';
import type { Problems } from './problems.ts';

const maxTargetBytes = 2_048;
const allOwners = 'all_machine_owners';
const keys = ['type', 'value', 'seconds_between_notifications', 'application', 'auth'];

export function parseNotifications(
  value: unknown,
  eventType: string,
  path: string,
  problems: Problems,
): Notification[] {
  const single = isObject(value);
  if (!single && (!Array.isArray(value) || value.length === 0)) {
    problems.error(path, `expected an array of notifications, found ${shown(value)}`);
    return [];
  }
  const items: unknown[] = single ? [value] : value;
  const parsed: Notification[] = [];
  for (const [index, item] of items.entries()) {
    const at = single ? path : `${path}[${index}]`;
    const notification = parseNotification(item, eventType, at, problems);
    if (notification === undefined) continue;
    if (parsed.some((one) => notificationKey(one) === notificationKey(notification))) {
      problems.warn(at, `expected a new type and value, found ${shown(notification.value)} again: it is ignored`);
    } else {
      parsed.push(notification);
    }
  }
  return parsed;
}

function parseNotification(
  value: unknown,
  eventType: string,
  path: string,
  problems: Problems,
): Notification | undefined {
  if (!isObject(value)) return problems.error(path, `expected an object with type and value, found ${shown(value)}`);
  warnUnknown(value, keys, path, problems);
  const type = channelNames.find((one) => one === value['type']);
  if (type === undefined)
    return problems.error(`${path}.type`, `expected one of ${channelNames.join(', ')}, found ${shown(value['type'])}`);
  const target = keyText(value, 'value', maxTargetBytes, path, problems);
  if (target === undefined) return undefined;
  checkTarget(type, target, `${path}.value`, problems);
  const basicAuth = parseAuth(value, type, path, problems);
  const application = parseApplication(value, type, path, problems);
  return {
    type,
    value: target,
    intervalMs: parseInterval(value, eventType, path, problems),
    ...(basicAuth && { basicAuth }),
    ...(application !== undefined && { application }),
  };
}

function checkTarget(type: Notification['type'], target: string, path: string, problems: Problems): void {
  if (type === 'webhook') {
    if (target === allOwners) {
      problems.error(path, `expected a URL, found ${allOwners}, which is for email and push`);
      return;
    }
    if (URL.parse(target) === null) {
      problems.error(path, `expected an absolute URL such as https://example.com/hook, found ${shown(target)}`);
      return;
    }
    try {
      webhookUrl(target);
    } catch (caught) {
      problems.error(path, asPlatformError(caught).message);
    }
  } else if (target !== allOwners && !/^[^\s@]+@[^\s@]+$/.test(target)) {
    problems.error(path, `expected an e-mail address or ${allOwners}, found ${shown(target)}`);
  }
}

function parseInterval(value: JsonObject, eventType: string, path: string, problems: Problems): number {
  const key = 'seconds_between_notifications';
  const seconds = value[key];
  if (seconds === undefined) return 0;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) {
    problems.error(`${path}.${key}`, `expected a number of seconds of at least 0, found ${shown(seconds)}`);
    return 0;
  }
  const instead = triggerKinds.get(eventType)?.ignoresInterval;
  if (instead === undefined) return seconds * 1_000;
  problems.warn(`${path}.${key}`, `ignored for ${eventType}: ${instead}`);
  return 0;
}

function parseAuth(
  value: JsonObject,
  type: Notification['type'],
  path: string,
  problems: Problems,
): Notification['basicAuth'] {
  const auth = value['auth'];
  if (auth === undefined || auth === null) return undefined;
  if (type !== 'webhook') {
    problems.warn(`${path}.auth`, `ignored for ${type}; it is for webhooks`);
    return undefined;
  }
  if (!isObject(auth))
    return problems.error(`${path}.auth`, `expected {"basic": {"username", "password"}}, found ${kindOf(auth)}`);
  warnUnknown(auth, ['basic'], `${path}.auth`, problems);
  const { basic } = auth;
  if (basic === undefined) return undefined;
  // The found value is not repeated, because it may hold a password.
  if (!isObject(basic) || typeof basic['username'] !== 'string' || typeof basic['password'] !== 'string') {
    const found = isObject(basic) ? `${kindOf(basic['username'])} and ${kindOf(basic['password'])}` : kindOf(basic);
    return problems.error(`${path}.auth.basic`, `expected the strings username and password, found ${found}`);
  }
  if (basic['username'].includes(':'))
    return problems.error(`${path}.auth.basic.username`, 'expected a name without colon, found one with it');
  warnUnknown(basic, ['username', 'password'], `${path}.auth.basic`, problems);
  return { username: basic['username'], password: basic['password'] };
}

function parseApplication(
  value: JsonObject,
  type: Notification['type'],
  path: string,
  problems: Problems,
): string | undefined {
  if (type === 'push') return keyText(value, 'application', maxNameBytes, path, problems);
  if (value['application'] !== undefined) problems.warn(`${path}.application`, `ignored for ${type}; it is for push`);
  return undefined;
}
