-- What a lock screen would show of a content, for people at the console: Mustache over contentState (PreviewTemplate). Builds
-- of before leave the columns as they are.

alter table apps
    add column preview_compact text check (octet_length(preview_compact) between 1 and 2000),
    add column preview_expanded text check (octet_length(preview_expanded) between 1 and 2000);
