"""One job by the client that openapi-python-client makes: list, read, create, update, upload, read what a 422 tells.

Usage: job.py ADDRESS KEY, beside the package plaudit_client. Every answer is a type of the client's own.
"""

import base64
import sys

from plaudit_client import AuthenticatedClient
from plaudit_client.api.chapters import (
    get_chapter_collection_v23,
    get_chapter_v23,
    post_chapter_upload_v23,
    post_chapter_v23,
    put_chapter_v23,
)
from plaudit_client.api.seasons import get_season_collection_v23
from plaudit_client.models import (
    Chapter,
    ChapterPage,
    CreateChapter,
    CreateChapterStatus,
    CreateChapterTranslated,
    CreateChapterTranslatedName,
    SeasonPage,
    UpdateChapter,
    UpdateChapterTranslated,
    UpdateChapterTranslatedName,
    UploadedFile,
    UploadFile,
    ValidationError,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def is_a(answer, kind):
    assert isinstance(answer, kind), f"{kind.__name__} was to come, not {answer}"
    return answer


def main(address: str, key: str) -> None:
    client = AuthenticatedClient(
        base_url=address,
        token=key,
        prefix="",
        auth_header_name="x-api-key",
        headers={"Accept": "application/vnd.service.v2.3+json"},
    )
    seasons = is_a(get_season_collection_v23.sync(client=client, per_page=5), SeasonPage)
    season = seasons.data[0].slug
    before = is_a(get_chapter_collection_v23.sync(client=client, season="all"), ChapterPage).total
    name = CreateChapterTranslatedName.from_dict({"en_GB": "Coast"})
    wrong = CreateChapter(season="AAAAAAAA", status=CreateChapterStatus.ACTIVE, translated=CreateChapterTranslated(name))
    refused = is_a(post_chapter_v23.sync(client=client, body=wrong), ValidationError)
    assert refused.errors.additional_properties["season"] == ["AAAAAAAA is no season of the account"], refused
    right = CreateChapter(season=season, status=CreateChapterStatus.ACTIVE, translated=CreateChapterTranslated(name))
    made = is_a(post_chapter_v23.sync(client=client, body=right), Chapter)
    texts = UpdateChapterTranslated(name=UpdateChapterTranslatedName.from_dict({"en_GB": "Coasts"}))
    is_a(put_chapter_v23.sync(made.slug, client=client, body=UpdateChapter(translated=texts)), Chapter)
    image = UploadFile(filename="a.png", data=base64.b64encode(PNG).decode())
    is_a(post_chapter_upload_v23.sync(made.slug, client=client, body=image), UploadedFile)
    read = is_a(get_chapter_v23.sync(made.slug, client=client), Chapter)
    assert read.name.additional_properties == {"en_GB": "Coasts"}, read
    after = is_a(get_chapter_collection_v23.sync(client=client, season="all"), ChapterPage).total
    assert after == before + 1, (before, after)
    print("done")


main(*sys.argv[1:])
