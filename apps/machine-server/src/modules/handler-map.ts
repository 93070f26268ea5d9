/** Reads which models a module provides. */
import { failedPrecondition, type Log, type PlatformError } from '@platform/base';
import type { HandlerMap } from '@platform/proto/platform/module/v1/module';
import type { ResourceDescriptor } from '@platform/resources';
import type { Link } from '@platform/rpc/client';
import type { Model } from '../graph/model.ts';
import type { ModuleResources } from './module-resources.ts';
import type { TypeTable } from './type-table.ts';
import { unknownType } from './unknown-type.ts';

const triplet = /^[\w-]+:[\w-]+:[\w-]+$/;
const serviceName = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/;

export interface HandlerMapDeps {
  readonly types: TypeTable;
  readonly link: Pick<Link, 'client'>;
  readonly resources: ModuleResources;
  readonly log: Log;
}

/** The models of a module; an unknown type is added. @throws failed_precondition with the entry that is not a type or a model */
export async function modelsOf(map: HandlerMap | undefined, deps: HandlerMapDeps): Promise<Model[]> {
  const { types, link, resources, log } = deps;
  const models = new Map<string, Model>();
  for (const [index, { subtype, models: names }] of (map?.handlers ?? []).entries()) {
    const at = `handlers[${index}]`;
    const { namespace = '', type = '', subtype: last = '' } = subtype?.subtype ?? {};
    const api = `${namespace}:${type}:${last}`;
    if (!triplet.test(api)) throw nonsense(`${at}.subtype`, 'a type such as rdk:component:sensor', api);
    const descriptor = await typeOf(api, subtype?.protoService ?? '', at, { types, link, log });
    for (const model of names) {
      if (!triplet.test(model)) throw nonsense(`${at}.models`, 'models such as acme:demo:thing', model);
      models.set(`${api} ${model}`, resources.model(descriptor, model));
    }
  }
  return [...models.values()];
}

async function typeOf(
  api: string,
  service: string,
  at: string,
  { types, link, log }: Pick<HandlerMapDeps, 'types' | 'link' | 'log'>,
): Promise<ResourceDescriptor> {
  const known = types.known.find((type) => type.api === api);
  if (known !== undefined) return known;
  if (!serviceName.test(service)) throw nonsense(`${at}.proto_service`, `the name of the service of ${api}`, service);
  const other = types.all.find((type) => type.api !== api && type.service.typeName === service);
  if (other !== undefined)
    throw nonsense(`${at}.proto_service`, `a service of ${api} alone`, `${service} of ${other.api}`);
  const type = await unknownType(api, service, link, log);
  types.add(type);
  return type;
}

function nonsense(path: string, expected: string, found: string): PlatformError {
  const text = `its answer to Ready: ${path}: expected ${expected}, found ${JSON.stringify(found.slice(0, 200))}`;
  return failedPrecondition(text);
}
