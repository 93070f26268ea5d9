/** The module protocol: the machine-server queries models, and adds, changes and removes resources. */
import type { JsonObject } from '@bufbuild/protobuf';
import { canonicalApi } from '@platform/base';
import type { ComponentConfig } from '@platform/proto/platform/app/v1/robot';
import { type HandlerDefinition, ModuleService } from '@platform/proto/platform/module/v1/module';
import { type ServiceBinding, serve } from '@platform/rpc/server';
import type { Model, ResourceConfig } from './define-model.ts';
import { createDependencies } from './dependencies.ts';
import type { ModuleLog } from './module-log.ts';
import type { Parent } from './parent.ts';
import type { Context, RunningResources } from './running-resources.ts';
import { type ModuleInfo, parseLevel } from './settings.ts';

export interface ModuleRpcDeps {
  readonly models: readonly Model[];
  readonly resources: RunningResources;
  readonly parent: Parent;
  readonly log: ModuleLog;
  readonly info: ModuleInfo;
}

export function moduleRpc({ models, resources, parent, log, info }: ModuleRpcDeps): ServiceBinding<undefined> {
  const contextOf = (config: ResourceConfig, given: ComponentConfig, dependencies: readonly string[]): Context => ({
    dependencies: createDependencies(dependencies, parent.link),
    module: info,
    log: log.ofResource(fullNameOf(config), parseLevel(given.logConfiguration?.level ?? '')),
  });
  return serve<typeof ModuleService, undefined>(ModuleService, {
    async ready({ parentAddress, rawParentAddress }) {
      log.sendTo(await parent.connect(rawParentAddress || parentAddress));
      return { ready: true, handlermap: { handlers: handlersOf(models) } };
    },
    async validateConfig({ config }) {
      const resource = configOf(config);
      const { required, optional } = await resources.validate(resource, log.log.child(fullNameOf(resource)));
      return { dependencies: [...required], optionalDependencies: [...optional] };
    },
    async addResource({ config, dependencies }) {
      const resource = configOf(config);
      await resources.add(resource, contextOf(resource, config as ComponentConfig, dependencies));
    },
    async reconfigureResource({ config, dependencies }) {
      const resource = configOf(config);
      await resources.reconfigure(resource, contextOf(resource, config as ComponentConfig, dependencies));
    },
    async removeResource({ name }) {
      await resources.remove(canonicalApi(name));
    },
  });
}

/** The models of each type, in their given order. */
function handlersOf(models: readonly Model[]): Pick<HandlerDefinition, 'subtype' | 'models'>[] {
  const types = [...new Set(models.map(({ type }) => type))];
  return types.map((type) => {
    const [namespace = '', kind = '', subtype = ''] = type.api.split(':');
    return {
      subtype: {
        subtype: { namespace, type: kind, subtype, name: '' },
        protoService: type.service.typeName,
      } as NonNullable<HandlerDefinition['subtype']>,
      models: models.filter((each) => each.type === type).map(({ model }) => model),
    };
  });
}

/** By which patterns of the machine's configuration find the lines about it. */
const fullNameOf = ({ api, name }: ResourceConfig): string => `${api}/${name}`;

function configOf(given: ComponentConfig | undefined): ResourceConfig {
  const { name = '', namespace = '', type = '', model = '', api = '', dependsOn = [], attributes } = given ?? {};
  return {
    ...{ name, model, dependsOn },
    // Old machine-servers name only the type of a component.
    api: api || `${namespace}:component:${type}`,
    attributes: (attributes ?? {}) as JsonObject,
  };
}
