/** The manifest of the reconciliation service (Reconciliation Service API 0.2, W3C Entity Reconciliation group). */
import { type EntityType, viewType } from './entity.ts';

const PREVIEW = { width: 320, height: 120 };

/** Returns the manifest of the service at this address, which has the key, for the types that the account may match. */
export function renderManifest(address: string, types: readonly EntityType[]) {
  const suggest = (kind: string) => ({
    service_url: address,
    service_path: `/suggest/${kind}`,
    flyout_service_url: address,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
    flyout_service_path: '/flyout?id=${id}',
  });
  return {
    versions: ['0.2'],
    name: 'Enrichment pipeline',
    identifierSpace: 'urn:enrichment-pipeline:record:',
    schemaSpace: 'urn:enrichment-pipeline:field:',
    defaultTypes: types.map(viewType),
    view: { url: `${address}/preview?id={{id}}` },
    preview: { url: `${address}/preview?id={{id}}`, ...PREVIEW },
    suggest: {
      entity: suggest('entity'),
      property: suggest('property'),
      type: suggest('type'),
    },
    extend: {
      propose_properties: { service_url: address, service_path: '/properties' },
      property_settings: [],
    },
  };
}
