/** AppService for modules: the calls by which public clients upload them. Versions are packages of type module. */
import { invalidArgument } from '@platform/base';
import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import type { AppService, ModuleFileInfo, UploadModuleFileRequest } from '@platform/proto/platform/app/v1/app';
import { type CloudHandlers, grantsOf, notVisible, organizationsOf } from '../../access/principal.ts';
import { type CheckedInfo, checkInfo } from '../check-info.ts';
import { createPackage } from '../create-package.ts';
import { packagePath } from '../download/package-link.ts';
import { fileName } from '../download/package-route.ts';
import { ownedPlaceOf, type PackagePlace, placeOf } from '../find-packages.ts';
import type { PackagesDeps } from '../packages-deps.ts';
import { detailsOf, moduleMessage } from './module-message.ts';
import { createModule, modulesOf, type StoredModule, updateModule } from './stored-modules.ts';

export function moduleHandlers(deps: PackagesDeps): CloudHandlers<typeof AppService> {
  const { db, access, namespaceOf } = deps;

  const messageOf = (module: StoredModule, documented = false) =>
    moduleMessage(module, namespaceOf(module.organizationId), documented);

  return {
    async createModule({ organizationId, name }, call) {
      access.authorize(call.principal, 'package.manage', organizationId);
      await createModule(deps, call, { organizationId, name });
      return { moduleId: `${namespaceOf(organizationId) || organizationId}:${name}` };
    },

    async updateModule(request, call) {
      await updateModule(deps, call, ownedPlaceOf(deps, call.principal, 'module', request.moduleId), request);
      return {};
    },

    async getModule({ moduleId, includeMarkdownDocumentation }, { principal }) {
      const { organizationId, name } = placeOf(deps, principal, 'module', moduleId);
      const [module] = await modulesOf(db, organizationId, name);
      if (module === undefined) throw notVisible('module', moduleId);
      return { module: messageOf(module, includeMarkdownDocumentation) };
    },

    async listModules({ organizationId, includeMarkdownDocumentation }, { principal }) {
      if (organizationId !== undefined) access.authorize(principal, 'package.read', organizationId);
      const all = organizationsOf(grantsOf(principal)).filter((id) => access.allows(principal, 'package.read', id));
      const modules: StoredModule[] = [];
      for (const id of organizationId === undefined ? all : [organizationId])
        modules.push(...(await modulesOf(db, id)));
      return { modules: modules.map((module) => messageOf(module, includeMarkdownDocumentation)) };
    },

    async uploadModuleFile(requests, call) {
      const messages = requests[Symbol.asyncIterator]();
      const { value, done } = await messages.next();
      const first = done ? undefined : value.moduleFile;
      if (first?.case !== 'moduleFileInfo')
        throw invalidArgument(
          `UploadModuleFile expected module_file_info in the first message, found ${first?.case ?? 'nothing'}`,
        );
      const place = ownedPlaceOf(deps, call.principal, 'module', first.value.moduleId);
      await deps.requireSpace();
      const [module] = await modulesOf(db, place.organizationId, place.name);
      const info = packageInfo(first.value, place, module);
      const row = await createPackage(deps, call, info, contentsOf(messages), 'AppService.UploadModuleFile');
      return { url: `${deps.baseUrl(call.metadata)}${packagePath}${row.id}/${encodeURIComponent(fileName(row))}` };
    },
  };
}

/** The version as a package; its entrypoint comes from the last update of the module. */
function packageInfo(file: ModuleFileInfo, place: PackagePlace, module: StoredModule | undefined): CheckedInfo {
  const { version, platform, platformTags } = file;
  if (platformTags.length > 0)
    throw invalidArgument(
      `platform_tags: expected none, found ${platformTags.length}: machines here choose a version by its platform alone; upload without tags`,
    );
  const { entrypoint, firstRun, models } = detailsOf(module?.row);
  return checkInfo({
    organizationId: place.organizationId,
    name: place.name,
    ...{ version, platform },
    type: PackageType.MODULE,
    files: [],
    metadata: {
      ...(entrypoint !== '' && { entrypoint }),
      ...(firstRun !== undefined && { first_run: firstRun }),
      ...(models.length > 0 && { models: models.map(({ api, model }) => ({ api, model })) }),
    },
  });
}

async function* contentsOf(messages: AsyncIterator<UploadModuleFileRequest>): AsyncIterable<Uint8Array> {
  for (let next = await messages.next(); !next.done; next = await messages.next()) {
    const { moduleFile } = next.value;
    if (moduleFile.case !== 'file')
      throw invalidArgument(
        `UploadModuleFile expected file after the first message, found ${moduleFile.case ?? 'nothing'}`,
      );
    yield moduleFile.value;
  }
}
