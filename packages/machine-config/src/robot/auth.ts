/**
 * The `auth` section. Public machine-servers refuse the whole configuration if it contains a handler for anything but API keys, two
 * handlers of the same type, or a handler without its `keys` list. So a single handler is sent, with all keys and their list.
 */

import type { Problem } from '@platform/base';
import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';
import type { Json, JsonObject } from '../schema.ts';
import { unknownKey } from '../unknown-key.ts';
import type { Init } from './section.ts';

const apiKey = 2;
const known = ['handlers', 'tls_auth_entities', 'external_auth_config'];

export function authInit(auth: JsonObject, problems: Problem[]): Init {
  const init: Init = {};
  const keys = new Map<string, string>();
  for (const key of Object.keys(auth)) if (!known.includes(key)) problems.push(unknownKey(`auth.${key}`, key, known));
  const handlers = auth['handlers'] ?? [];
  if (!Array.isArray(handlers)) wrong('auth.handlers', 'a list', handlers, problems);
  for (const [index, handler] of (Array.isArray(handlers) ? handlers : []).entries())
    readHandler(handler, `auth.handlers[${index}]`, keys, problems);
  if (keys.size > 0)
    init['handlers'] = [{ type: apiKey, config: { ...Object.fromEntries(keys), keys: [...keys.keys()] } }];
  const entities = auth['tls_auth_entities'] ?? [];
  if (Array.isArray(entities) && entities.every((entity) => typeof entity === 'string'))
    init['tlsAuthEntities'] = [...entities];
  else wrong('auth.tls_auth_entities', 'a list of strings', entities, problems);
  const external = auth['external_auth_config'];
  if (external === undefined || external === null) return init;
  const jwks = isObject(external) ? external['jwks'] : undefined;
  if (isObject(jwks) && Array.isArray(jwks['keys']) && jwks['keys'].length > 0)
    init['externalAuthConfig'] = { jwks: { json: jwks } };
  else wrong('auth.external_auth_config', '{"jwks":{"keys":[…]}} with at least one key', external, problems);
  return init;
}

function readHandler(handler: Json, path: string, keys: Map<string, string>, problems: Problem[]): void {
  const { type, config } = isObject(handler) ? handler : {};
  if (type !== 'api-key') {
    const message = `expected a handler of type api-key, found ${formatValue(type)}: it is ignored`;
    problems.push({ path: `${path}.type`, level: 'warning', message });
    return;
  }
  const entries = Object.entries(isObject(config) ? config : {}).filter(([id]) => id !== 'keys' && id !== 'key');
  if (entries.length === 0) wrong(`${path}.config`, '{"<key id>":"<key>"}', config, problems);
  for (const [id, key] of entries) {
    if (typeof key === 'string') keys.set(id, key);
    else wrong(`${path}.config.${id}`, 'a key as string', key, problems);
  }
}

function wrong(path: string, expected: string, found: unknown, problems: Problem[]): void {
  problems.push({ path, level: 'error', message: `expected ${expected}, found ${formatValue(found)}` });
}

interface AuthMessage {
  readonly handlers: readonly { readonly config?: unknown }[];
  readonly tlsAuthEntities: readonly string[];
  readonly externalAuthConfig?: { readonly jwks?: { readonly json?: unknown } | undefined } | undefined;
}

export function authOf({ handlers, tlsAuthEntities, externalAuthConfig }: AuthMessage): JsonObject {
  const jwks = externalAuthConfig?.jwks?.json as JsonObject | undefined;
  return {
    ...(handlers.length === 0
      ? {}
      : { handlers: handlers.map(({ config }) => ({ type: 'api-key', config: (config ?? {}) as JsonObject })) }),
    ...(tlsAuthEntities.length === 0 ? {} : { tls_auth_entities: [...tlsAuthEntities] }),
    ...(jwks === undefined ? {} : { external_auth_config: { jwks } }),
  };
}
