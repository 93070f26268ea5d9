/** AppService for modules: the calls by which public clients upload them. Versions are packages of type module. */
import { invalidArgument, permissionDenied } from '@platform/base';
import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import type { AppService, ModuleFileInfo, UploadModuleFileRequest } from '@platform/proto/platform/app/v1/app';
import { type CloudHandlers, grantsOf, notVisible, type Principal } from '../../access/principal.ts';
import { type CheckedInfo, checkInfo } from '../check-info.ts';
import { createPackage } from '../create-package.ts';
import { packagePath } from '../download/package-link.ts';
import { fileName } from '../download/package-route.ts';
import type { PackagesDeps } from '../packages-deps.ts';
import { splitModuleId } from './module-id.ts';
import { detailsOf, moduleMessage } from './module-message.ts';
import { createModule, type ModulePlace, modulesOf, type StoredModule, updateModule } from './stored-modules.ts';

export function moduleHandlers(deps: PackagesDeps): CloudHandlers<typeof AppService> {
  const { db, access, organizationNamed, namespaceOf } = deps;

  /** The organization and name in an id, if the caller may read modules there. @throws not_found, as for a nonexistent module */
  const placeOf = (id: string, principal: Principal): ModulePlace => {
    const { owner, name } = splitModuleId(id);
    const organizationId = organizationNamed(owner);
    if (organizationId === undefined || !access.allows(principal, 'package.read', organizationId))
      throw notVisible('module', id);
    return { organizationId, name };
  };
  /** @throws not_found, permission_denied */
  const ownedPlaceOf = (id: string, principal: Principal): ModulePlace => {
    const place = placeOf(id, principal);
    if (!access.allows(principal, 'package.manage', place.organizationId))
      throw permissionDenied(
        `module ${id}: expected an owner of its organization, found another role (package.manage)`,
      );
    return place;
  };
  const messageOf = (module: StoredModule, documented = false) =>
    moduleMessage(module, namespaceOf(module.organizationId), documented);

  return {
    async createModule({ organizationId, name }, call) {
      access.authorize(call.principal, 'package.manage', organizationId);
      await createModule(deps, call, { organizationId, name });
      return { moduleId: `${namespaceOf(organizationId) || organizationId}:${name}` };
    },

    async updateModule(request, call) {
      await updateModule(deps, call, ownedPlaceOf(request.moduleId, call.principal), request);
      return {};
    },

    async getModule({ moduleId, includeMarkdownDocumentation }, { principal }) {
      const { organizationId, name } = placeOf(moduleId, principal);
      const [module] = await modulesOf(db, organizationId, name);
      if (module === undefined) throw notVisible('module', moduleId);
      return { module: messageOf(module, includeMarkdownDocumentation) };
    },

    async listModules({ organizationId, includeMarkdownDocumentation }, { principal }) {
      if (organizationId !== undefined) access.authorize(principal, 'package.read', organizationId);
      const all = [...new Set(grantsOf(principal).map((grant) => grant.organizationId))].filter((id) =>
        access.allows(principal, 'package.read', id),
      );
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
      const place = ownedPlaceOf(first.value.moduleId, call.principal);
      await deps.requireSpace();
      const [module] = await modulesOf(db, place.organizationId, place.name);
      const info = packageInfo(first.value, place, module);
      const row = await createPackage(deps, call, info, contentsOf(messages), 'AppService.UploadModuleFile');
      return { url: `${deps.baseUrl(call.metadata)}${packagePath}${row.id}/${encodeURIComponent(fileName(row))}` };
    },
  };
}

/** The version as a package; its entrypoint comes from the last update of the module. */
function packageInfo(file: ModuleFileInfo, place: ModulePlace, module: StoredModule | undefined): CheckedInfo {
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
