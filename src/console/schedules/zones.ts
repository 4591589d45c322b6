/** Time zones, and what their clocks show. */

/** The zone of who looks at the page. */
export const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Every zone by name; one that a schedule has is among them. */
export function zoneNames(used: string): string[] {
  return [...new Set(['UTC', ownZone, used, ...Intl.supportedValuesOf('timeZone')])];
}

/** A zone as people read it: `Europe/London` is `London (Europe)`. */
export function zoneLabel(zone: string): string {
  const [region = '', ...places] = zone.split('/');
  const place = places.at(-1)?.replaceAll('_', ' ');
  return place === undefined ? zone : `${place} (${region})`;
}

const day = { weekday: 'short', day: 'numeric', month: 'short' } as const;
const clock = { hour: '2-digit', minute: '2-digit' } as const;

/** A time of the API on the clocks of a zone, with its weekday, and its year where that is not this one. */
export function timeInZone(iso: string, zone: string): string {
  const isThisYear = new Date(iso).getFullYear() === new Date().getFullYear();
  const year = isThisYear ? {} : ({ year: 'numeric' } as const);
  return format(iso, zone, { ...day, ...year, ...clock });
}

/**
 * The same time on the reader's clock: only the time of day on the same day, null where it is the same.
 */
export function timeHere(iso: string, zone: string): string | null {
  if (timeInZone(iso, zone) === timeInZone(iso, ownZone)) return null;
  const isSameDay = format(iso, zone, day) === format(iso, ownZone, day);
  return format(iso, ownZone, isSameDay ? clock : { ...day, ...clock });
}

function format(iso: string, zone: string, form: Intl.DateTimeFormatOptions): string {
  const inZone = (timeZone: string, more: Intl.DateTimeFormatOptions = {}) =>
    new Intl.DateTimeFormat(undefined, { ...form, ...more, timeZone }).format(new Date(iso));
  try {
    return inZone(zone);
  } catch {
    // The browser may be older than the zone.
    return inZone('UTC', { timeZoneName: 'short' });
  }
}
