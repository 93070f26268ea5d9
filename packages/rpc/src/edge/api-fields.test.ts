import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DescField, DescFile, DescMessage } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { fieldTable, spellingOf } from './api-fields.ts';

const generated = join(dirname(fileURLToPath(import.meta.resolve('@platform/proto/platform/app/v1/app'))), '../../..');

async function allMessages(): Promise<DescMessage[]> {
  const files = readdirSync(generated, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('_pb.ts'));
  expect(files.length).toBeGreaterThan(9);
  const modules: Record<string, unknown>[] = await Promise.all(files.map((name) => import(join(generated, name))));
  const descriptors = modules.flatMap((module) => Object.values(module)).filter((value) => isFile(value));
  return descriptors.flatMap((file) => file.messages).flatMap(withNested);
}

function isFile(value: unknown): value is DescFile {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'file';
}

function withNested(message: DescMessage): DescMessage[] {
  return [message, ...message.nestedMessages.flatMap(withNested)];
}

function nameOf(field: DescField): string {
  return `${field.parent.typeName}.${field.name}`;
}

describe('D2 the table of fields that carry an API name', () => {
  test('D2 contains exactly these fields, over every generated message', async () => {
    const fields = (await allMessages()).flatMap((message) => message.fields);
    const table = fields.flatMap((field) => {
      const spelling = spellingOf(field);
      return spelling === undefined ? [] : [`${nameOf(field)}: ${spelling}`];
    });
    expect(table.sort()).toEqual([
      'platform.app.data.v1.CaptureMetadata.component_type: name',
      'platform.app.data.v1.DeleteTabularFilter.component_type: name',
      'platform.app.data.v1.ExportTabularDataRequest.resource_subtype: name',
      'platform.app.data.v1.ExportTabularDataResponse.resource_subtype: name',
      'platform.app.data.v1.Filter.component_type: name',
      'platform.app.data.v1.GetLatestTabularDataRequest.resource_subtype: name',
      'platform.app.datasync.v1.DataCaptureMetadata.component_type: name',
      'platform.app.datasync.v1.UploadMetadata.component_type: name',
      'platform.app.v1.ComponentConfig.api: name',
      'platform.app.v1.ComponentConfig.depends_on: name',
      'platform.app.v1.ComponentConfig.model: name',
      'platform.app.v1.ComponentConfig.namespace: namespace',
      // A model that a module in the registry offers.
      'platform.app.v1.Model.api: name',
      'platform.app.v1.Model.model: name',
      'platform.app.v1.ResourceLevelServiceConfig.type: name',
      'platform.app.v1.ServiceConfig.api: name',
      'platform.app.v1.ServiceConfig.depends_on: name',
      'platform.app.v1.ServiceConfig.model: name',
      'platform.app.v1.ServiceConfig.namespace: namespace',
      'platform.common.v1.ResourceName.namespace: namespace',
      // A lens model, which has no namespace and passes unchanged.
      'platform.component.camera.v1.DistortionParameters.model: name',
      'platform.gaps.v1.Gap.component_type: name',
      'platform.gaps.v1.ListGapsRequest.component_type: name',
      'platform.live.v1.NewestReading.component_type: name',
      'platform.module.v1.AddResourceRequest.dependencies: name',
      'platform.module.v1.HandlerDefinition.models: name',
      'platform.module.v1.ReconfigureResourceRequest.dependencies: name',
      'platform.module.v1.RemoveResourceRequest.name: name',
      'platform.module.v1.ValidateConfigResponse.dependencies: name',
      'platform.module.v1.ValidateConfigResponse.optional_dependencies: name',
      // A model that a running module provides.
      'platform.robot.v1.ModuleModel.api: name',
      'platform.robot.v1.ModuleModel.model: name',
      'platform.robot.v1.Operation.method: service',
      'platform.robot.v1.ResourceRPCSubtype.proto_service: service',
      'platform.series.v1.ListSeriesRequest.component_type: name',
      'platform.series.v1.Series.component_type: name',
    ]);
  });

  test('D2 every text field whose name suggests an API, a model, a type or a resource has been classified', async () => {
    const suspicious = /api|namespace|subtype|component|model|depends|resource|service|method|^type$/;
    const fields = (await allMessages()).flatMap((message) => message.fields);
    const undecided = fields.filter(
      (field) => isText(field) && suspicious.test(field.name) && spellingOf(field) === undefined,
    );
    expect(undecided.map(nameOf).sort()).toEqual(
      [
        // gRPC's own services, which list each service under both names.
        'grpc.health.v1.HealthCheckRequest.service',
        'grpc.reflection.v1.ServerReflectionRequest.list_services',
        'grpc.reflection.v1alpha.ServerReflectionRequest.list_services',
        // An account resource (organization, location, robot), its kind and id.
        ...['Authorization', 'AuthorizationDetails', 'AuthorizedPermissions'].flatMap((message) => [
          `platform.app.v1.${message}.resource_id`,
          `platform.app.v1.${message}.resource_type`,
        ]),
        'platform.app.v1.ListAuthorizationsRequest.resource_ids',
        // GET, POST, MAIL, PUSH.
        'platform.app.v1.DeliveryRequest.method',
        // "web", "single_machine", …
        'platform.app.v1.App.type',
        // The public name of an organization.
        ...['Fragment', 'GetAppBrandingRequest', 'GetAppContentRequest', 'Module', 'OrgDetails', 'Organization']
          .concat('GetOrganizationNamespaceAvailabilityRequest', 'RegistryItem', 'SearchOrganizationsRequest')
          .concat('UpdateOrganizationRequest')
          .map((message) => `platform.app.v1.${message}.public_namespace`),
        'platform.app.v1.ListRegistryItemsRequest.public_namespaces',
        'platform.app.v1.TransferRegistryItemRequest.new_public_namespace',
        'platform.app.v1.UpdateOrganizationNamespaceRequest.new_public_namespace',
        // The short kind, "sensor": it has no namespace.
        'platform.app.v1.ComponentConfig.type',
        // A short resource name, and the short name of a method.
        'platform.app.v1.JobConfig.method',
        'platform.app.v1.JobConfig.resource',
        // "registry" or "local", "ml_model", …
        'platform.app.v1.ModuleConfig.type',
        'platform.app.v1.PackageConfig.type',
        'platform.app.v1.ServiceConfig.type',
        // Items of the registry that run a model.
        ...['MLModelMetadata', 'MLTrainingMetadata', 'UpdateMLModelMetadata', 'UpdateMLTrainingMetadata'].map(
          (message) => `platform.app.v1.${message}.deployment_modular_resources`,
        ),
        // A short resource name, and a kind of zone that its user chooses.
        'platform.service.motion.v1.TempStreamArmJointPositionsRequest.Init.component_name',
        ...['AddZoneRequest', 'ListZonesRequest', 'UpdateZoneRequest', 'Zone'].map(
          (message) => `platform.service.navigation.v1.${message}.type`,
        ),
        // Short names of a resource and a method.
        ...['CaptureMetadata.component_name', 'CaptureMetadata.method_name', 'DeleteTabularFilter.component_name']
          .concat('DeleteTabularFilter.method', 'Filter.component_name', 'Filter.method')
          .concat('ExportTabularDataRequest.method_name', 'ExportTabularDataRequest.resource_name')
          .concat('ExportTabularDataResponse.method_name', 'ExportTabularDataResponse.resource_name')
          .concat('GetLatestTabularDataRequest.method_name', 'GetLatestTabularDataRequest.resource_name')
          .concat('SequenceResourceFilter.method_name', 'SequenceResourceFilter.resource_name')
          .map((field) => `platform.app.data.v1.${field}`),
        // Short names of resources.
        ...['GetPlanRequest', 'GetPoseRequest', 'MoveOnGlobeRequest', 'MoveOnMapRequest', 'MoveRequest', 'Plan']
          .concat('PlanStatusWithID', 'StopPlanRequest')
          .map((message) => `platform.service.motion.v1.${message}.component_name`),
        'platform.gaps.v1.Gap.component_name',
        'platform.gaps.v1.Gap.method_name',
        'platform.gaps.v1.ListGapsRequest.component_name',
        'platform.gaps.v1.ListGapsRequest.method_name',
        'platform.live.v1.NewestReading.component_name',
        'platform.live.v1.NewestReading.method_name',
        // The path of a method, in our vocabulary: live connections are our own API.
        'platform.live.v1.RepeatedCall.method',
        'platform.robot.v1.GetPoseRequest.component_name',
        ...['ListSeriesChoicesRequest.component_name', 'ListSeriesChoicesResponse.component_names']
          .concat('ListSeriesChoicesResponse.method_names', 'ListSeriesRequest.component_name')
          .concat('ListSeriesRequest.method_name', 'Series.component_name', 'Series.method_name')
          .map((field) => `platform.series.v1.${field}`),
        'platform.service.motion.v1.MoveOnMapRequest.slam_service_name',
        'platform.service.motion.v1.ObstacleDetector.vision_service',
        'platform.app.datasync.v1.DataCaptureMetadata.component_name',
        'platform.app.datasync.v1.DataCaptureMetadata.method_name',
        'platform.app.datasync.v1.UploadMetadata.component_name',
        'platform.app.datasync.v1.UploadMetadata.method_name',
        'platform.common.v1.ResourceName.subtype',
        'platform.common.v1.ResourceName.type',
        // Identifies the server that answers; not a name.
        'platform.robot.v1.GetVersionResponse.api_version',
        // The name of a resource.
        'platform.relay.v1.ReportedCalls.resource',
        // A kind of credentials.
        'proto.rpc.v1.Credentials.type',
        // A path, whose package name both alternatives have (`canonicalPath`).
        'proto.rpc.webrtc.v1.RequestHeaders.method',
      ].sort(),
    );
  });

  test('D2 never reaches readings, attributes, logs or query text', async () => {
    const reached = new Set<string>();
    const walk = (message: DescMessage): void => {
      for (const { field, message: inner } of fieldTable(message)?.nested ?? []) {
        reached.add(nameOf(field));
        if (!reached.has(inner.typeName)) {
          reached.add(inner.typeName);
          walk(inner);
        }
      }
    };
    for (const message of await allMessages()) walk(message);
    const names = [...reached].join('\n');
    expect(names).toContain('platform.app.v1.MaintenanceConfig.sensor_name');
    expect(names).not.toMatch(/google\.protobuf|SensorData|LogEntry|attributes|mql|sql|sensor_contents/);
  });
});

function isText(field: DescField): boolean {
  return (
    (field.fieldKind === 'scalar' || (field.fieldKind === 'list' && field.listKind === 'scalar')) && field.scalar === 9
  );
}
